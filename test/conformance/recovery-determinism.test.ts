/** Two recoveries of the same bytes give the same state and the same instruction, whatever the machine shows around them. */
import { cpSync, existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { Engine } from "../../scripts/engine/context.ts";
import { loadRun } from "../../scripts/engine/ledger.ts";
import { resume } from "../../scripts/engine/resume.ts";
import { plainResume } from "../../scripts/engine/start.ts";
import { type FileSystem, realFileSystem } from "../../scripts/platform/fs.ts";
import { seeded } from "../crash/points.ts";
import { idOfLog } from "../golden/golden.ts";
import { worlds } from "../support/kimi-atlas.ts";
import { ownEngine } from "../support/own-engine.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { builtPlugin, type Plugin } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";
import { conformance, type Probe, rounds, seed } from "./cell.ts";
import type { Kind } from "./cells.ts";
import { leftBehind } from "./kind-ledgers.ts";
import { eventsIn, makeStage, type Stage } from "./stage.ts";

let plugin: Plugin;
const stages: Stage[] = [];
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => {
  for (const stage of stages) stage.remove();
  plugin.remove();
});

/** What may differ between two recoveries of one ledger. */
interface Around {
  readonly shiftMs?: number;
  readonly shuffled?: number;
  readonly touched?: number;
}

const yearMs = 365 * 24 * 3600 * 1000;

/** Folders list what they hold in an order of chance. */
function shuffling(chance: number): FileSystem {
  const random = seeded(chance);
  return {
    ...realFileSystem,
    readdirSync(path) {
      const names = realFileSystem.readdirSync(path);
      for (let at = names.length - 1; at > 0; at -= 1) {
        const other = Math.floor(random() * (at + 1));
        [names[at], names[other]] = [names[other] as string, names[at] as string];
      }
      return names;
    },
  };
}

function touch(folder: string, chance: number): void {
  const random = seeded(chance);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const seconds = Math.floor(random() * 2e9);
    if (entry.isFile() || entry.isDirectory()) utimesSync(join(entry.parentPath, entry.name), seconds, seconds);
  }
}

/** Ids of a claim, times, nonces and the two hashes of lines are each recovery's own. */
function plain(value: unknown): string {
  return JSON.stringify(value, null, 1)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/\b\d+\.[0-9a-f]{10}\b/g, "<claim>")
    .replace(/"(nonce|sum|claimSum|prev)": "[0-9a-f]+"/g, '"$1": "<own>"')
    .replace(/--nonce [0-9a-f]{8}/g, "--nonce <own>")
    .replace(/\([0-9a-f]{8}\)/g, "(<own>)")
    .replace(/"offset": \d+/g, '"offset": 0');
}

function engineOf(stage: Stage, around: Around): Engine {
  const engine = ownEngine(stage.world, Date.now() + (around.shiftMs ?? 0));
  const fs = around.shuffled === undefined ? realFileSystem : shuffling(around.shuffled);
  return { ...engine, fs, environment: { ...engine.environment, ATLAS_FREE_MB: "100000" } };
}

/** The whole recovery: found, claimed, settled; the state, the instruction and what was written for it. */
async function recovered(stage: Stage, around: Around): Promise<string> {
  stage.again();
  if (around.touched !== undefined) touch(join(stage.world.project, ".atlas"), around.touched);
  const engine = engineOf(stage, around);
  const done = await resume(engine, { ...plainResume, newest: true });
  if (!done.ok) return plain(done.error);
  if (done.value.run === null) return plain({ ...done.value, searched: [] });
  const { loaded, did, next } = done.value.run;
  const told = plain({
    did,
    next,
    state: loaded.state,
    headline: loaded.headline,
    events: eventsIn(loaded.folder.ledger),
  });
  // Recovering twice is recovering once.
  const again = await resume(engine, { ...plainResume, run: done.value.run.id });
  if (!again.ok || again.value.run === null) throw new Error("recovered once, and not twice");
  expect(again.value.run.did).toEqual([`reattached epoch ${loaded.state.head.epoch}`]);
  expect(again.value.run.next).toEqual(next);
  expect(again.value.run.loaded.tip.seq).toBe(loaded.tip.seq);
  return told;
}

const golden = join(repositoryRoot, "test", "golden");
const goldens = readdirSync(golden, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap(({ name }) => readdirSync(join(golden, name)).map((run) => join(golden, name, run)));

/** Damage that a crash, a bad disk or a bad hand leaves, and that leaves the run readable or names why not. */
const damages: Readonly<Record<string, (log: Buffer) => Buffer>> = {
  whole: (log) => log,
  "torn in its last line": (log) => log.subarray(0, log.length - 40),
  "with a fragment behind it": (log) => Buffer.concat([log, Buffer.from('\n{"v":1,"seq":')]),
  "with a flipped bit": (log) =>
    Buffer.from(log.map((byte, at) => (at === Math.floor(log.length / 2) ? byte ^ 4 : byte))),
  "without its first line": (log) => log.subarray(log.indexOf("\n\n") + 1),
  empty: () => Buffer.alloc(0),
};

/** A ledger of an earlier release lies where it was born no more, so it is folded, not gone on with. */
function foldedGoldens(around: Around): string {
  const said = goldens.flatMap((from) =>
    Object.entries(damages).map(([damage, spoil]) => {
      const folder = join(tempFolder(), "run");
      cpSync(from, folder, { recursive: true });
      writeFileSync(join(folder, "log.jsonl"), spoil(readFileSync(join(folder, "log.jsonl"))));
      if (around.touched !== undefined) touch(folder, around.touched);
      const fs = around.shuffled === undefined ? realFileSystem : shuffling(around.shuffled);
      const run = { id: idOfLog(from), root: "/", atlas: "/", ledger: folder, adopted: false };
      return [true, false].map((trust) => {
        const read = loadRun(fs, run, trust);
        if (!read.ok) return [damage, read.unreadable];
        const { state, headline, tip, kind } = read.loaded;
        return [damage, state, headline, tip, kind.next(state)];
      });
    }),
  );
  return JSON.stringify(said);
}

/** More sub-runs than one: whatever is hashed or taken over of them must not hang on their order in the folder. */
function manyNodes(stage: Stage): void {
  const tasks = join(stage.world.project, ".atlas", "sess-g", "tasks");
  if (!existsSync(tasks)) return;
  const [node] = readdirSync(tasks);
  for (let at = 0; at < 9; at += 1) {
    const copy = join(tasks, `more-${at}`);
    cpSync(join(tasks, node as string), copy, { recursive: true });
    writeFileSync(join(copy, "intent.txt"), `${at}`);
  }
}

async function stagesOf(kind: Kind): Promise<readonly Stage[]> {
  if (kind === "change") {
    const made = [await leftBehind(plugin, kind, "gone"), await leftBehind(plugin, kind, "gone", true)];
    stages.push(...made.map((left) => left.stage));
    return made.map((left) => left.stage);
  }
  const isGraph = (name: string) => name.startsWith("graph") || name === "damaged-torn-dag" || name === "select-many";
  return worlds
    .filter((name) => isGraph(name) === (kind === "adopted graph"))
    .map((name) => {
      const stage = makeStage(plugin, name);
      manyNodes(stage);
      stage.keep();
      stages.push(stage);
      return stage;
    });
}

const prepared = new Map<Kind, Promise<readonly { readonly stage: Stage; readonly plainly: string }[]>>();

/** Each world of the kind with what its plain recovery says. */
function worldsOf(kind: Kind) {
  const made =
    prepared.get(kind) ??
    stagesOf(kind).then(async (all) => {
      const told = [];
      for (const stage of all) told.push({ stage, plainly: await recovered(stage, {}) });
      return told;
    });
  prepared.set(kind, made);
  return made;
}

function each(aroundOf: (round: number) => Around): Readonly<Record<Kind, Probe>> {
  const probe = (kind: Kind) => async () => {
    for (let round = 0; round < rounds; round += 1) {
      const around = aroundOf(round);
      for (const { stage, plainly } of await worldsOf(kind)) expect(await recovered(stage, around)).toBe(plainly);
      if (kind === "change") expect(foldedGoldens(around)).toBe(foldedGoldens({}));
    }
  };
  return {
    change: probe("change"),
    "adopted change": probe("adopted change"),
    "adopted graph": probe("adopted graph"),
  };
}

conformance("recovery determinism", ({ cell }) => {
  cell(
    "twice from the same bytes",
    each(() => ({})),
  );
  cell(
    "shuffled folder entries",
    each((round) => ({ shuffled: seed + round })),
  );
  cell(
    "a shifted clock",
    each((round) => ({ shiftMs: (round % 2 === 0 ? 1 : -1) * (10 + round) * yearMs })),
  );
  cell(
    "other modification times",
    each((round) => ({ touched: seed + round })),
  );
});
