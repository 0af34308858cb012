/** A sample of `npm run crash`: commands, kills and resumers a seed chose, as many as fit into a short time. */
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtPlugin, type Plugin } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";
import { nameOf, weaponsOf } from "./point.ts";
import { chosenPoints, rowsOf, seeded } from "./points.ts";
import { scenarios } from "./scenarios.ts";
import { openSite } from "./site.ts";
import { requirePtrace } from "./strace.ts";

// The one seed of a test run: the set-up read ATLAS_SEED before it scrubbed the environment.
const { seed = 1 } = fc.readConfigureGlobal();
/** No kill begins later; the last one, and opening a place for it, take a few seconds more. */
const budgetMs = 30_000;
const pointsPerSite = 3;

let plugin: Plugin;
beforeAll(async () => {
  requirePtrace();
  plugin = await builtPlugin();
});
afterAll(() => plugin?.remove());

test("where nothing can be traced, it is said what to do", () => {
  const { PATH } = process.env;
  process.env.PATH = tempFolder();
  try {
    expect(requirePtrace).toThrow(/apt-get install strace[\s\S]*--cap-add=SYS_PTRACE/);
  } finally {
    process.env.PATH = PATH;
  }
});

test("killed at any call, a command leaves a run that ends as if nobody had been killed", {
  timeout: 180_000,
}, async () => {
  const random = seeded(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const begun = performance.now();
  const isLate = (): boolean => performance.now() - begun > budgetMs;
  const tried: string[] = [];
  const faults: string[] = [];
  while (tried.length === 0 || !isLate()) {
    const scenario = pick(scenarios);
    const resumer = pick(["same owner", "new owner"] as const);
    const weapon = pick(weaponsOf(scenario.name));
    const site = await openSite(plugin, tempFolder("atlas-crash-"), scenario, resumer);
    for (const point of chosenPoints(rowsOf(site, weapon), pointsPerSite, random)) {
      await setImmediate();
      if (tried.length > 0 && isLate()) break;
      const done = await site.try(point);
      const name = `${scenario.name} (${resumer}) at ${nameOf(point)}`;
      if (done.killed) tried.push(name);
      faults.push(...done.faults.map((fault) => `${name}: ${fault}`));
    }
  }
  console.log(`${tried.length} kills, seed ${seed} (ATLAS_SEED repeats them):\n${tried.join("\n")}`);
  expect(faults, `repeat with ATLAS_SEED=${seed}`).toEqual([]);
});
