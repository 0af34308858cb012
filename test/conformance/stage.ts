/** A run brought to some point in a world of its own, which can be put back there, and commands of it that are killed. */
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Line, ORIGIN, readChain } from "../../scripts/core/line.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { injection, stracePath } from "../crash/strace.ts";
import { worldsFolder } from "../support/kimi-atlas.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import { type LoggedEvent, makeWorld, type Plugin, runFolder, type World } from "../support/scripted-run.ts";
import { keptFolder } from "../support/temp.ts";

export interface Stage {
  readonly world: World;
  /** Holds project, home and state. */
  readonly folder: string;
  /** Where the ledger lies, or will lie. */
  readonly ledger: () => string;
  /** From now on `again` leads back to here. */
  keep(): void;
  again(): void;
  remove(): void;
}

const kept = "kept";
const held = ["project", "home", "state"] as const;

/** `original`: a recorded world whose runs lie in the project. */
export function makeStage(plugin: Plugin, original: string | null = null): Stage {
  const base = keptFolder("atlas-conform-");
  const folder = base.path;
  const world = makeWorld(plugin, folder);
  if (original !== null)
    cpSync(join(worldsFolder, original, ".atlas"), join(world.project, ".atlas"), { recursive: true });
  const id = original === null ? null : original.startsWith("graph") ? "sess-g" : "sess-a";
  return {
    world,
    folder,
    ledger: () => (id === null ? runFolder(world) : join(world.project, ".atlas", id, "adopted")),
    keep() {
      rmSync(join(folder, kept), { recursive: true, force: true });
      for (const name of held) copy(join(folder, name), join(folder, kept, name));
    },
    again() {
      for (const name of held) {
        rmSync(join(folder, name), { recursive: true, force: true });
        copy(join(folder, kept, name), join(folder, name));
      }
    },
    remove: base.remove,
  };
}

/** With times: git tells a changed file by them. What is not there is not copied. */
function copy(from: string, to: string): void {
  spawnSync("sh", ["-c", '[ ! -e "$1" ] || { mkdir -p "$(dirname "$2")" && cp -a "$1" "$2"; }', "sh", from, to]);
}

export function linesIn(ledger: string): readonly Line<LoggedEvent>[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(ledger, "log.jsonl"));
  } catch {
    return [];
  }
  const { lines, end } = readChain<LoggedEvent>(bytes, sha256, ORIGIN);
  if (end.at !== "end") throw new Error(`the ledger is ${end.at}`);
  return lines;
}

export function eventsIn(ledger: string): readonly LoggedEvent[] {
  return linesIn(ledger).flatMap((line) => line.events);
}

/** The n-th call of a name; `path`: only calls that concern it count. */
export interface Blow {
  readonly call: string;
  readonly at: number;
  readonly path?: string;
}

function traced(stage: Stage, before: readonly string[], words: readonly string[]) {
  const { world } = stage;
  const done = spawnSync(stracePath(), [...before, process.execPath, world.plugin.cli, ...words, "--json"], {
    cwd: world.project,
    env: cliEnvironment(world.env),
    encoding: "utf8",
    timeout: 120_000,
  });
  return { killed: done.signal === "SIGKILL", code: done.status, stdout: done.stdout, stderr: done.stderr };
}

/** Runs a command that dies before that call happens, or goes through when it is over before. */
export function strike(stage: Stage, words: readonly string[], { call, at, path }: Blow) {
  const only = path === undefined ? [] : ["-P", path];
  return traced(stage, ["-qq", "-o", "/dev/null", ...only, ...injection({ call, at })], words);
}

/**
 * Runs a command that nobody kills. `spawns[n]`: the calls by which it starts other programs before its n-th append to
 * `log` and after the one before.
 */
export function appendsOf(
  stage: Stage,
  words: readonly string[],
  log: string,
): { readonly spawns: readonly (readonly Blow[])[] } {
  const trace = join(stage.folder, "trace");
  traced(stage, ["-qq", "-o", trace, "-s", "1000", "-e", "trace=openat,?clone,?clone3,?vfork"], words);
  const counts = new Map<string, number>();
  const spawns: Blow[][] = [[]];
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    const call = /^(\w+)\(/.exec(line)?.[1];
    if (call === undefined) continue;
    const at = (counts.get(call) ?? 0) + 1;
    counts.set(call, at);
    if (call === "openat" && line.includes(`"${log}"`) && line.includes("O_APPEND")) spawns.push([]);
    // Threads are started by the same calls.
    else if (call !== "openat" && !line.includes("CLONE_THREAD")) spawns.at(-1)?.push({ call, at });
  }
  return { spawns };
}
