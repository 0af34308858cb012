/** No state that breaks its schema or a law is written, and none is taken silently: refused by name, at the door and at reading. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { sealLine } from "../../scripts/core/line.ts";
import { ok } from "../../scripts/core/result.ts";
import type { RunFolder } from "../../scripts/engine/ledger.ts";
import { transact } from "../../scripts/engine/transact.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { fingerprint } from "../support/adopted-world.ts";
import { folderOf, ownEngine } from "../support/own-engine.ts";
import { builtPlugin, type LoggedEvent, type Plugin, type Session, sit } from "../support/scripted-run.ts";
import { conformance, type Probe } from "./cell.ts";
import type { Kind } from "./cells.ts";
import { type Left, leftBehind } from "./kind-ledgers.ts";
import { linesIn } from "./stage.ts";

let plugin: Plugin;
const prepared = new Map<Kind, Left>();
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => {
  for (const { stage } of prepared.values()) stage.remove();
  plugin.remove();
});

interface Place extends Left {
  readonly kind: Kind;
  readonly ledger: string;
  readonly session: Session;
}

function on(kind: Kind, probe: (place: Place) => Promise<void>): Probe {
  return async () => {
    const left = prepared.get(kind) ?? (await leftBehind(plugin, kind, "owned"));
    prepared.set(kind, left);
    left.stage.again();
    await probe({ ...left, kind, ledger: left.stage.ledger(), session: sit(left.stage.world) });
  };
}

const each = (probe: (place: Place) => Promise<void>): Readonly<Record<Kind, Probe>> => ({
  change: on("change", probe),
  "adopted change": on("adopted change", probe),
  "adopted graph": on("adopted graph", probe),
});

/** A line that is whole, sealed and in its place, and holds what `event` says. */
function forge(ledger: string, event: LoggedEvent, v = 1): void {
  const last = linesIn(ledger).at(-1);
  if (last === undefined) throw new Error("no line");
  const { sum, ...body } = last;
  const { text } = sealLine({ ...body, v, seq: last.seq + 1, prev: sum, events: [event] }, sha256);
  const log = join(ledger, "log.jsonl");
  writeFileSync(log, `${readFileSync(log, "utf8")}\n${text}\n`);
}

/** Every command that reads the run names what is wrong, and changes no byte of it. */
async function expectRefused({ session, ledger, id, told }: Place, code: string): Promise<void> {
  const before = fingerprint(ledger);
  for (const words of [["resume"], ["resume", "--run", id], ["next", "--run", id, "--claim", told.claim]]) {
    const refused = await session.run(...words);
    if (words.length === 1) expect(refused.json.run ?? null, refused.stdout).toBeNull();
    else expect([refused.code, refused.refused?.code], refused.stdout).toEqual([3, code]);
  }
  expect(fingerprint(ledger)).toEqual(before);
}

function runFolderOf({ ledger, kind, id, stage }: Place): RunFolder {
  if (kind === "change") return folderOf(ledger);
  const root = stage.world.project;
  return { id: id as RunFolder["id"], root, atlas: join(root, ".atlas"), ledger, adopted: true };
}

function artifact(ledger: string, slot: string): string {
  const name = readdirSync(join(ledger, "artifacts")).find((one) => one.startsWith(`${slot}.0.`));
  if (name === undefined) throw new Error(`no artifact of ${slot}`);
  return join(ledger, "artifacts", name);
}

conformance("checkpoint validity", ({ cell }) => {
  cell(
    "illegal event",
    each(async (place) => {
      const engine = ownEngine(place.stage.world);
      const folder = runFolderOf(place);
      const before = fingerprint(place.ledger);
      const forks = [{ type: "born" }, { type: "braided" }, { type: "claimed", epoch: "two" }];
      for (const event of forks) expect(() => transact(engine, folder, () => ok([event]))).toThrow();
      expect(fingerprint(place.ledger)).toEqual(before);
      const [born] = linesIn(place.ledger)[0]?.events ?? [];
      forge(place.ledger, born as LoggedEvent);
      await expectRefused(place, "ledger.illegal");
      place.stage.again();
      const [claimed] = linesIn(place.ledger)
        .flatMap((line) => line.events)
        .filter((event) => event.type === "claimed");
      forge(place.ledger, { ...(claimed as LoggedEvent), epoch: 2, carried: 7 });
      await expectRefused(place, "ledger.malformed");
    }),
  );

  const wrongShape = async (place: Place): Promise<void> => {
    const { session, id, told, stage, ledger } = place;
    const before = linesIn(ledger).length;
    const file = join(stage.folder, "wrong.json");
    for (const text of ["", "[]", '{"repo_mode": 7}', '{"repo_mode":"small"}', "\0\0", "{".repeat(5000)]) {
      writeFileSync(file, text);
      const refused = await session.run(
        ...["submit", "--run", id, "--claim", told.claim, "--slot", "scout"],
        "--file",
        file,
      );
      expect(
        [refused.code, /^slot\./.test(refused.refused?.code ?? "")],
        `${text.slice(0, 30)}: ${refused.stdout}`,
      ).toEqual([3, true]);
    }
    expect(linesIn(ledger)).toHaveLength(before);
    // Where its agent left it: not taken when it is read, but counted as its bad ending and handed out again.
    const agent = told.next.do === "dispatch" ? told.next.agents[0] : null;
    writeFileSync(agent?.result ?? "", '{"repo_mode": 7}');
    const next = await session.run(...["submit", "--run", id, "--claim", told.claim, "--slot", "scout"]);
    expect(next.json.fault, next.stdout).toMatchObject({ code: expect.stringMatching(/^slot\./) });
    const events = linesIn(ledger).flatMap((line) => line.events);
    expect(events.filter((event) => event.type === "filled" && event.slot === "scout")).toEqual([]);
    expect(events.filter((event) => event.type === "lease-ended")).toMatchObject([{ why: "error" }]);
  };
  cell("wrong-shaped artifact", {
    change: on("change", wrongShape),
    "adopted change": on("adopted change", wrongShape),
  });

  cell(
    "edited view",
    each(async (place) => {
      const { session, ledger, told } = place;
      const said = await session.run("resume");
      const snapshot = join(ledger, "snapshot.json");
      // A run of one line has none yet.
      const kept = existsSync(snapshot) ? readFileSync(snapshot, "utf8") : "";
      const edits: Readonly<Record<string, readonly string[]>> = {
        "snapshot.json": ["", "{}", kept.replace(/"seq":\d+/, '"seq":1')],
        "state.json": ['{"current_state":"OUTPUT"}', "\0"],
        "plan.dag.json": ['{"nodes":{}}', "["],
      };
      for (const [name, texts] of Object.entries(edits)) {
        for (const text of texts) {
          writeFileSync(join(ledger, name), text);
          const again = await session.run("resume");
          expect([again.code, again.next, again.claim], `${name}: ${again.stdout}`).toEqual([0, said.next, told.claim]);
          expect((again.json.run as { readonly stage: string }).stage).toBe(
            (said.json.run as { readonly stage: string }).stage,
          );
        }
      }
    }),
  );

  cell("swapped artifact", {
    change: on("change", (place) => swapped(place, "packet")),
    "adopted change": on("adopted change", (place) => swapped(place, "packet")),
    "adopted graph": on("adopted graph", (place) => swapped(place, "dag")),
  });

  cell(
    "newer version",
    each(async (place) => {
      const [claimed] = linesIn(place.ledger)
        .flatMap((line) => line.events)
        .filter((event) => event.type === "claimed");
      const newer: readonly (() => void)[] = [
        () => forge(place.ledger, { type: "whatever" }, 2),
        () => forge(place.ledger, { type: "braided" }),
        () => forge(place.ledger, { ...(claimed as LoggedEvent), epoch: 2, version: 99 }),
      ];
      for (const forgery of newer) {
        place.stage.again();
        forgery();
        await expectRefused(place, "ledger.newer");
      }
    }),
  );
});

/** Nothing is handed out that rests on bytes the ledger does not name; the file is named. */
async function swapped({ session, ledger, id, told }: Place, slot: string): Promise<void> {
  const path = artifact(ledger, slot);
  const lines = linesIn(ledger).length;
  writeFileSync(path, `${readFileSync(path, "utf8")} `);
  const doctor = await session.run("doctor");
  expect(doctor.json.checks).toContainEqual(
    expect.objectContaining({
      name: `artifact ${id}`,
      ok: false,
      detail: `${slot}.0 holds other bytes than the ledger names`,
    }),
  );
  // A graph hands nothing out yet: nothing rests on its artifact but what people are told.
  if (slot === "dag") return;
  const next = await session.run("resume", "--run", id, "--claim", told.claim, "--redo", "scout");
  expect(next.json.error, next.stdout).toMatchObject({
    code: "artifact.changed",
    reason: expect.stringContaining(path),
  });
  expect(next.code).toBe(4);
  // The lease ended and the next was charged: the work itself was given to nobody.
  expect(linesIn(ledger).length - lines).toBeLessThanOrEqual(2);
}
