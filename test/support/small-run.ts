/** A small run of kind change through the engine's own doors, on any file system, without git or a command line. */
import type { EpochMs, RunId } from "../../scripts/core/ids.ts";
import { bear, makePlace, type NewRun } from "../../scripts/engine/birth.ts";
import type { Engine } from "../../scripts/engine/context.ts";
import type { RunFolder } from "../../scripts/engine/ledger.ts";
import { PACKET_ARTIFACT } from "../../scripts/engine/packets.ts";
import type { ChangeEvent } from "../../scripts/kinds/change/events.ts";
import type { FileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { systemProcesses } from "../../scripts/platform/processes.ts";
import { ownerOf, RUN } from "./ledger.ts";

let freshes = 0;

/** An engine that may touch files and nothing else. */
export function smallEngine(fs: FileSystem, name = "test"): Engine {
  return {
    fs,
    git: {
      run() {
        throw new Error("no git here");
      },
    },
    processes: systemProcesses(),
    environment: {},
    cwd: "/",
    moment: {
      now: Date.UTC(2026, 10, 30, 19) as EpochMs,
      fresh: () => {
        freshes += 1;
        return sha256(`${name}${process.pid}.${freshes}`).slice(0, 8);
      },
    },
    verb: name,
    self: ownerOf(process.pid, `session-${name}`),
    exclusive: false,
    pluginRoot: "/plugin",
  };
}

const packet = {
  intent: "mend the sum",
  success_criteria: ["it adds"],
  scope_paths: ["src"],
  debug_tokens: [],
  test_glob: [],
  invocation_form: "interactive",
  limits: { timeMs: 60_000, memoryBytes: 1024 ** 3, outputBytes: 1024 ** 2 },
};

/** What `start` gives to a birth in `root`; an empty command is none. */
export function newRun(
  engine: Engine,
  root: string,
  atlas: string,
  id: string = RUN,
  command = "node check.js",
): NewRun {
  const bytes = Buffer.from(JSON.stringify({ ...packet, verify_cmd: command }), "utf8");
  const folder: RunFolder = { id: id as RunId, root, atlas, ledger: `${atlas}/${id}`, adopted: false };
  const events: readonly [ChangeEvent, ...ChangeEvent[]] = [
    {
      type: "born",
      kind: "change",
      origin: "atlas",
      form: "interactive",
      digest: "d",
      root,
      top: null,
      commonDir: null,
    },
    {
      type: "claimed",
      epoch: 1,
      version: 1,
      owner: engine.self,
      why: "born",
      carried: [],
      exclusive: false,
    },
    { type: "gas-granted", amount: 12, why: "birth" },
    { type: "opened", packet: sha256(bytes), missing: [], assumed: [], hasCommand: command !== "", baseline: null },
    { type: "stage", stage: "INIT" },
  ];
  return { folder, events, intent: packet.intent, artifacts: [{ name: PACKET_ARTIFACT, bytes }] };
}

/** A run born in `root` (which exists), durable. */
export function bornRun(engine: Engine, root: string, id: string = RUN): RunFolder {
  const born = bear(engine, newRun(engine, root, makePlace(engine.fs, root), id));
  if (!born.ok) throw new Error(born.error.reason);
  return born.value;
}

/** One harmless event that says who wrote it. */
export function note(why: string): Extract<ChangeEvent, { type: "gas-granted" }> {
  return { type: "gas-granted", amount: 0, why: why as "gate" };
}
