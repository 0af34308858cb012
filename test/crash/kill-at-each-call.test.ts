/** A sample of `npm run crash`: every command, every hook and the performer killed once, where a seed chose. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtPlugin, type Plugin } from "../support/scripted-run.ts";
import { keptFolder, tempFolder } from "../support/temp.ts";
import { crashWorld, keepWorld, makeFresh, restoreWorld } from "./crash-world.ts";
import { differences, endStateOf } from "./end-state.ts";
import { lives } from "./lives.ts";
import { seeded } from "./points.ts";
import { requirePtrace, stracePath } from "./strace.ts";
import { type CallsOf, striker } from "./striker.ts";
import { tracedPlugin } from "./traced-performer.ts";

// The one seed of a test run: the set-up read ATLAS_SEED before it scrubbed the environment.
const { seed = 1 } = fc.readConfigureGlobal();

let plugin: Plugin;
beforeAll(async () => {
  requirePtrace();
  const folder = keptFolder("atlas-traced-");
  const built = await builtPlugin();
  plugin = tracedPlugin({ ...built, remove: folder.remove }, join(folder.path, "plugin"));
  built.remove();
});
afterAll(() => plugin?.remove());

/** As a machine on which `strace` is what `script` makes of it. */
function withStrace(script: string | null, use: () => void): void {
  const { PATH } = process.env;
  const folder = tempFolder();
  if (script !== null) writeFileSync(join(folder, "strace"), `#!/bin/sh\n${script}\n`);
  if (script !== null) chmodSync(join(folder, "strace"), 0o755);
  process.env.PATH = script === null ? folder : `${folder}:${PATH}`;
  try {
    use();
  } finally {
    process.env.PATH = PATH;
  }
}

const whatToDo = /cannot be traced here[\s\S]*apt-get install strace[\s\S]*--cap-add=SYS_PTRACE/;

test("where nothing can be traced, it is said what to do", () => {
  withStrace(null, () => expect(requirePtrace).toThrow(whatToDo));
});

test("where the kernel refuses to trace, its own word is told with it", () => {
  // What is traced already cannot be traced by a second one: a true refusal, on any machine.
  const real = stracePath();
  withStrace(`exec '${real}' -f -qq -o /dev/null -e trace=none '${real}' "$@"`, () => {
    expect(requirePtrace).toThrow(whatToDo);
    expect(requirePtrace).toThrow(/Operation not permitted/);
  });
});

const struckVerbs = new Set<string>();
const struckWeapons = new Set<string>();

test.each(lives)(
  "a life ($name) in which everything is killed once ends as if nobody had been killed",
  {
    timeout: 180_000,
  },
  async ({ live, wastedMax }) => {
    const world = crashWorld(plugin, tempFolder("atlas-crash-"));
    makeFresh(world);
    keepWorld(world, "fresh");
    const calls: CallsOf = new Map();
    await live(world, striker(world, calls, { random: null, atPerformer: false }));
    const whole = endStateOf(world);
    restoreWorld(world, "fresh");
    // Which of the two verifies dies by its performer is the seed's choice too.
    const atPerformer = (seed + lives.findIndex((one) => one.live === live)) % 2 === 0;
    const striking = striker(world, calls, { random: seeded(seed), atPerformer });
    try {
      await live(world, striking);
    } finally {
      const told = striking.strikes.map(({ name, killed }) => `${name}${killed ? "" : " (over before)"}`);
      console.log(`seed ${seed} (ATLAS_SEED repeats it); killed:\n${told.join("\n")}`);
    }
    for (const { name, point } of striking.strikes) {
      struckVerbs.add(String(name.split(" ")[0]));
      struckWeapons.add(point.weapon);
    }
    const isWordLost = striking.strikes.some(({ name, killed }) => killed && name.startsWith("hook UserPromptSubmit"));
    const allowed = { wastedMax, extraCommandRuns: atPerformer ? 1 : 0, isWordLost };
    const faults = differences(whole, endStateOf(world), allowed);
    expect(faults, `repeat with ATLAS_SEED=${seed}`).toEqual([]);
    expect(striking.strikes.filter(({ killed }) => killed).length).toBeGreaterThan(striking.strikes.length / 2);
  },
);

test("between them they kill every command that writes, the hooks, git's callers and the performer", () => {
  const verbs = ["abandon", "answer", "clean", "fork", "hook", "resume", "start", "submit", "verify"];
  expect([...struckVerbs].sort()).toEqual(verbs);
  expect([...struckWeapons].sort()).toEqual(["git call", "own call", "performer"]);
});
