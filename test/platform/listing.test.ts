import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FINISHED, mark, PACKED } from "../../scripts/platform/finished.ts";
import { type FileSystem, realFileSystem } from "../../scripts/platform/fs.ts";
import { LISTED_NAMES_MIN, listRuns } from "../../scripts/platform/listing.ts";
import { peekUnfinished } from "../../scripts/platform/peek.ts";
import { RUN, writeOwnRun } from "../support/ledger.ts";
import { tempFolder } from "../support/temp.ts";

const other = "20261130t200000z-ffffff";

/** When a place made just now is old enough to be remembered. */
const later = () => Date.now() + 5000;

interface World {
  readonly atlas: string;
  readonly state: string;
}

function manyFinished(count = LISTED_NAMES_MIN): World {
  const folder = tempFolder();
  const [atlas, state] = [join(folder, ".atlas"), join(folder, "state")];
  writeOwnRun(atlas);
  const ids = Array.from({ length: count }, (_, at) => `20250101t${String(at).padStart(6, "0")}z-abcdef`);
  // Only their names matter.
  for (const id of ids) writeFileSync(join(atlas, id), "");
  mkdirSync(join(atlas, FINISHED));
  writeFileSync(join(atlas, FINISHED, PACKED), `${ids.join("\n")}\n`);
  return { atlas, state };
}

/** A look, and which folders it read. */
function look({ atlas, state }: World, now = later(), around: FileSystem = realFileSystem) {
  const listed: string[] = [];
  const fs: FileSystem = {
    ...around,
    readdirSync: (path) => {
      listed.push(path);
      return around.readdirSync(path);
    },
  };
  return { ...listRuns(fs, atlas, state, now), listed };
}

function remembering(count?: number): World {
  const world = manyFinished(count);
  expect(look(world)).toMatchObject({ open: [RUN], listed: [join(world.atlas, FINISHED), world.atlas] });
  return world;
}

const memoryOf = ({ state }: World) => join(state, "listed", readdirSync(join(state, "listed"))[0] as string);
const full = ({ atlas }: World) => listRuns(realFileSystem, atlas, null);

test("a large place is read once while it stays as it is", () => {
  const world = remembering();
  const again = look(world);
  expect(again.listed).toEqual([]);
  expect(again).toMatchObject(full(world));
  expect(again.finished).toBe(LISTED_NAMES_MIN);
});

test("a small place, and one without a state folder, is read each time and nothing is written", () => {
  const world = manyFinished(10);
  look(world);
  expect(look(world).listed).toHaveLength(2);
  expect(() => statSync(world.state)).toThrow();
});

describe("a place that is not what it was is read", () => {
  const changes: Readonly<Record<string, (world: World) => unknown>> = {
    "a foreign run added": ({ atlas }) => mkdirSync(join(atlas, other)),
    "a run removed by hand": ({ atlas }) => rmSync(join(atlas, RUN), { recursive: true }),
    "a run renamed": ({ atlas }) => renameSync(join(atlas, RUN), join(atlas, other)),
    "a finished run removed": ({ atlas }) => unlinkSync(join(atlas, "20250101t000001z-abcdef")),
    "a run that ended": ({ atlas }) => mark(realFileSystem, atlas, RUN),
    "the marks removed": ({ atlas }) => rmSync(join(atlas, FINISHED), { recursive: true }),
    "the packed marks removed": ({ atlas }) => unlinkSync(join(atlas, FINISHED, PACKED)),
    "the packed marks shortened in place": ({ atlas }) => writeFileSync(join(atlas, FINISHED, PACKED), "x\n"),
    "a backup restored with its times": ({ atlas }) => {
      const backup = `${atlas}-backup`;
      cpSync(atlas, backup, { recursive: true, preserveTimestamps: true });
      const { atime, mtime } = statSync(atlas);
      rmSync(atlas, { recursive: true });
      cpSync(backup, atlas, { recursive: true, preserveTimestamps: true });
      mkdirSync(join(atlas, other));
      utimesSync(atlas, atime, mtime);
    },
    "a run added and the time set back": ({ atlas }) => {
      const { atime, mtime } = statSync(atlas);
      mkdirSync(join(atlas, other));
      utimesSync(atlas, atime, mtime);
    },
    "as many added as removed, the times set back": ({ atlas }) => {
      const { atime, mtime } = statSync(atlas);
      rmSync(join(atlas, RUN), { recursive: true });
      mkdirSync(join(atlas, other));
      utimesSync(atlas, atime, mtime);
    },
  };
  test.each(Object.entries(changes))("%s", (_what, change) => {
    const world = remembering();
    change(world);
    const seen = look(world);
    expect(seen.listed).toContain(world.atlas);
    expect(seen).toMatchObject(full(world));
  });

  test("ten minutes later, in case the disk's folders tell no time", () => {
    const world = remembering();
    expect(look(world, later() + 600_000).listed).toHaveLength(2);
    // Nor is it believed before it was written.
    expect(look(world, Date.now() - 600_000).listed).toHaveLength(2);
  });
});

test("what was young, or changed while it was looked at, is not remembered", () => {
  const young = manyFinished();
  look(young, Date.now());
  expect(look(young).listed).toHaveLength(2);
  const world = manyFinished();
  const racing: FileSystem = {
    ...realFileSystem,
    readdirSync: (path) => {
      const names = realFileSystem.readdirSync(path);
      // Another process's birth, right behind the look.
      if (path === world.atlas) mkdirSync(join(world.atlas, other));
      return names;
    },
  };
  expect(look(world, later(), racing).open).toEqual([RUN]);
  expect(look(world).open).toEqual([RUN, other]);
});

describe("what lies there may be anything", () => {
  const twist = (world: World, changed: object) =>
    JSON.stringify({ ...(JSON.parse(readFileSync(memoryOf(world), "utf8")) as object), ...changed });
  test.each<[string, (world: World) => string]>([
    ["no JSON", () => "{"],
    ["no object", () => "null"],
    ["a number", () => "7"],
    ["another place's", (world) => twist(world, { atlas: "/elsewhere/.atlas" })],
    ["another format", (world) => twist(world, { v: 2 })],
    ["no list", (world) => twist(world, { open: "x" })],
    ["a way out", (world) => twist(world, { open: ["../../etc"] })],
    ["no text", (world) => twist(world, { open: [7] })],
    ["out of order", (world) => twist(world, { open: [other, RUN] })],
    ["twice the same", (world) => twist(world, { open: [RUN, RUN] })],
    ["too many", (world) => twist(world, { open: Array.from({ length: 300 }, (_, at) => `r${1000 + at}`) })],
    ["no count", (world) => twist(world, { finished: -1 })],
    ["too long", (world) => twist(world, { more: "x".repeat(70_000) })],
    ["no times", (world) => twist(world, { seen: null })],
  ])("%s: the place is read, and remembered anew", (_what, bytes) => {
    const world = remembering();
    writeFileSync(memoryOf(world), bytes(world));
    const seen = look(world);
    expect(seen.listed).toHaveLength(2);
    expect(seen).toMatchObject(full(world));
    expect(look(world).listed).toEqual([]);
  });

  test("a listed run that is no run is none, and hides no other", () => {
    const world = remembering();
    writeFileSync(memoryOf(world), twist(world, { at: Date.now() - 1000, open: [RUN, other] }));
    const { runs } = peekUnfinished(realFileSystem, world.atlas, process.getuid?.() ?? null, 10, 10_000, world.state);
    expect(runs.map(({ id }) => id)).toEqual([RUN]);
  });

  test("a link in its place is not followed and not written over", () => {
    const world = remembering();
    const elsewhere = join(world.state, "elsewhere");
    renameSync(join(world.state, "listed"), elsewhere);
    symlinkSync(elsewhere, join(world.state, "listed"));
    expect(look(world).listed).toHaveLength(2);
  });
});

test("cut off at any of its calls, the next look says what is there", () => {
  class Killed extends Error {}
  const world = manyFinished();
  for (let last = 1, isCut = true; isCut; last += 1) {
    rmSync(world.state, { recursive: true, force: true });
    rmSync(join(world.atlas, other), { recursive: true, force: true });
    let calls = 0;
    isCut = false;
    const counted = Object.fromEntries(
      Object.entries(realFileSystem).map(([name, call]) => [
        name,
        (...words: unknown[]) => {
          calls += 1;
          // Dead: nothing after it happens either.
          if (calls > last) {
            isCut = true;
            throw new Killed();
          }
          return (call as (...words: unknown[]) => unknown)(...words);
        },
      ]),
    ) as unknown as FileSystem;
    try {
      listRuns(counted, world.atlas, world.state, later());
    } catch (error) {
      expect(error).toBeInstanceOf(Killed);
    }
    expect(look(world)).toMatchObject(full(world));
    mkdirSync(join(world.atlas, other));
    expect(look(world)).toMatchObject(full(world));
  }
});

test("two that remember at once leave one whole memory", () => {
  const world = manyFinished();
  const between: FileSystem = {
    ...realFileSystem,
    renameSync: (from, to) => {
      // The second one writes all of its own first.
      look(world);
      realFileSystem.renameSync(from, to);
    },
  };
  look(world, later(), between);
  expect(readdirSync(join(world.state, "listed"))).toHaveLength(1);
  expect(look(world).listed).toEqual([]);
});
