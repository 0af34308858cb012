/**
 * The newest Claude Code, where the registry has one newer than those tested: what fails with it is printed as advice,
 * and fails nothing here. All of it takes about a minute at most.
 */
import { spawnSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { heard } from "../../support/mock-model.ts";
import { claudeModel, runClaude } from "./claude-code.ts";
import { expectDone } from "./expected.ts";
import { claudeVersions, newestClaude } from "./install.ts";
import { leaveRunBehind, makeWorld } from "./world.ts";

const [known] = claudeVersions;
const eachMs = 15_000;

type Newest = { readonly program: string };

const checks: Readonly<Record<string, (version: Newest) => Promise<void>>> = {
  async "takes the plugin for a valid one"({ program }) {
    const { plugin, project, env } = makeWorld();
    const options = { cwd: project, env, encoding: "utf8", timeout: eachMs } as const;
    const done = spawnSync(program, ["plugin", "validate", "--strict", plugin], options);
    expect(done.stdout + done.stderr).toContain("Validation passed");
  },
  async "finds a run by the pointer and ends it"(version) {
    const world = makeWorld();
    const id = await leaveRunBehind(world);
    const model = await claudeModel();
    await runClaude({ version, world, model }, "Go on.").ended;
    expect(heard(model.asked[0]!)).toContain(`Now run: atlas resume --run ${id}`);
    expectDone(world, [1, 2]);
  },
};

/** One line a check; never throws, and waits for none longer than `eachMs`. */
async function advise<T>(newest: T, steps: Readonly<Record<string, (newest: T) => Promise<void>>>, waitMs: number) {
  const advice: string[] = [];
  for (const [name, step] of Object.entries(steps)) {
    const late = sleep(waitMs, undefined, { ref: false }).then(() => {
      throw new Error(`not within ${waitMs} ms`);
    });
    late.catch(() => {});
    const said = await Promise.race([step(newest), late]).then(
      () => "fine",
      (error: unknown) => `ADVICE: ${String(error).split("\n")[0]}`,
    );
    advice.push(`${name}: ${said}`);
  }
  return advice;
}

test("the newest Claude Code is looked at where there is one, and only advice comes of it", async () => {
  const newest = newestClaude(known);
  const advice = "none" in newest ? [newest.none] : await advise(newest, checks, eachMs);
  console.info(`Claude Code, newest: ${advice.join("; ")}`);
  expect(advice).not.toEqual([]);
});

describe("the advice", () => {
  test.each([
    [null, "the registry did not answer"],
    ["<html>", "the registry named no version"],
    [`${known}\n`, `nothing newer than ${known}`],
    ["2.1.99\n", `nothing newer than ${known}`],
  ])("is polite where the registry says %j", (answer, none) => {
    expect(newestClaude(known, () => answer)).toEqual({ none });
  });

  test("names what fails and what takes too long, and goes on", async () => {
    const steps = {
      good: async () => {},
      bad: () => Promise.reject(new Error("no\nmore")),
      long: () => new Promise<void>(() => {}),
      after: async () => {},
    };
    expect(await advise(null, steps, 20)).toEqual([
      "good: fine",
      "bad: ADVICE: Error: no",
      "long: ADVICE: Error: not within 20 ms",
      "after: fine",
    ]);
  });

  test("follows with the very checks the tested versions pass", async () => {
    const program = newestClaude("0.0.0", () => `${known}\n`);
    if ("none" in program) throw new Error(program.none);
    expect(await advise(program, checks, 60_000)).toEqual(Object.keys(checks).map((name) => `${name}: fine`));
  });
});
