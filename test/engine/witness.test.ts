/** The last line a run was seen to have, kept where no tree and no build of the project writes. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ORIGIN, readChain } from "../../scripts/core/line.ts";
import type { Engine } from "../../scripts/engine/context.ts";
import type { RunFolder } from "../../scripts/engine/ledger.ts";
import { load, transact } from "../../scripts/engine/transact.ts";
import { witnessSays } from "../../scripts/engine/witness.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { readWitness, witnessFolder } from "../../scripts/platform/witness.ts";
import { engineWorld } from "../support/engine-world.ts";
import { sealedLog } from "../support/ledger.ts";
import { bornRun, note } from "../support/small-run.ts";

interface Here {
  readonly engine: Engine;
  readonly state: string;
  readonly run: RunFolder;
}

function born(): Here {
  const { engine, state, project } = engineWorld();
  return { engine, state, run: bornRun(engine, project) };
}

function add({ engine, run }: Here, why: string): void {
  const done = transact(engine, run, () => ({ ok: true, value: [note(why)] }));
  if (!done.ok) throw new Error(done.error.reason);
}

function says({ engine, run }: Here): string {
  const read = load(engine, run);
  if (!read.ok) throw new Error(read.error.reason);
  return witnessSays(engine, read.value);
}

const path = ({ state, run }: Here) => join(witnessFolder(state, run.root), run.id);

/** The same events once more, from the first line on: every sum is another one, and the chain is whole. */
function rewrite({ run }: Here, drop = 0): void {
  const log = join(run.ledger, "log.jsonl");
  const { lines } = readChain<{ type: string } & Record<string, unknown>>(readFileSync(log), sha256, ORIGIN);
  const specs = lines.slice(0, lines.length - drop).map(({ events, stage }) => ({
    events,
    ...(stage === undefined ? {} : { stage }),
  }));
  writeFileSync(log, sealedLog(run.id, specs));
  rmSync(join(run.ledger, "snapshot.json"), { force: true });
}

test("birth and every line leave the pair the ledger holds, and it matches", () => {
  const here = born();
  expect(readWitness(here.engine.fs, here.state, here.run)?.seq).toBe(1);
  for (const why of ["one", "two"]) {
    add(here, why);
    const read = load(here.engine, here.run);
    const tip = read.ok ? read.value.tip : null;
    expect(readWitness(here.engine.fs, here.state, here.run)).toEqual({ seq: tip?.seq, sum: tip?.sum });
  }
  expect(says(here)).toBe("matches");
});

test("an older pair still matches, and is brought up to date by the next line", () => {
  const here = born();
  add(here, "one");
  const older = readFileSync(path(here));
  add(here, "two");
  add(here, "three");
  writeFileSync(path(here), older);
  expect(says(here)).toBe("matches");
  add(here, "four");
  expect(readWitness(here.engine.fs, here.state, here.run)?.seq).toBe(5);
});

test.each([
  ["rewritten", 0],
  ["rewritten and cut", 1],
])("a ledger that was %s differs, and honest lines behind it do not vouch for it", (_, drop) => {
  const here = born();
  add(here, "one");
  add(here, "two");
  rewrite(here, drop);
  expect(says(here)).toBe("differs");
  for (const why of ["three", "four", "five"]) add(here, why);
  expect(says(here)).toBe("differs");
});

test("a chain put in the place of another while lines go on differs", () => {
  const here = born();
  add(here, "one");
  rewrite(here);
  add(here, "two");
  expect(says(here)).toBe("differs");
});

test.each([
  ["absent", (at: string) => rmSync(at)],
  ["torn", (at: string) => writeFileSync(at, "3 abc")],
  ["empty", (at: string) => writeFileSync(at, "")],
  [
    "a folder",
    (at: string) => {
      rmSync(at);
      mkdirSync(at);
    },
  ],
  ["far too long", (at: string) => writeFileSync(at, "1 ".repeat(1000))],
])("where it is %s there is no witness, and no command fails for it", (_, spoil) => {
  const here = born();
  add(here, "one");
  spoil(path(here));
  expect(says(here)).toBe("none");
  add(here, "two");
});

test("a state folder that cannot be written costs the witness, never the line", () => {
  const here = born();
  rmSync(dirname(path(here)), { recursive: true });
  writeFileSync(dirname(path(here)), "no folder");
  add(here, "one");
  expect(says(here)).toBe("none");
});

test("of another place, or another user's folder, it says nothing", () => {
  const here = born();
  add(here, "one");
  const elsewhere = {
    ...here.engine,
    environment: { ...here.engine.environment, XDG_STATE_HOME: join(here.state, "x") },
  };
  expect(says({ ...here, engine: elsewhere })).toBe("none");
});
