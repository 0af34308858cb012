import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DagJob, JobState, PlanDag } from "../../../scripts/kinds/weave/plan-dag.ts";
import { nextWave } from "../../../scripts/kinds/weave/wave.ts";

const ample = 64_000;

/** `LEAF` is ready, `LEAF!` runs. */
function dagOf(kinds: readonly string[], gas = 99): PlanDag {
  const jobs = kinds.map((word, n): DagJob => {
    const state: JobState = word.endsWith("!") ? "RUNNING" : "PENDING";
    return { job_id: `${n}`, kind: word.replace("!", ""), state };
  });
  return { meta: { gas_remaining: gas }, nodes: {}, jobs };
}

function wave(kinds: readonly string[], freeMb = ample, gas = 99): string {
  return nextWave(dagOf(kinds, gas), freeMb)
    .map((job) => job.job_id)
    .join("");
}

describe("the original's admission table", () => {
  test.each([
    ["three read-only jobs fit, a fourth does not", ["SCOUT", "CRITIC", "DECOMPOSE", "SCOUT"], "012"],
    ["two coders fit under the ceiling, never three", ["LEAF", "LEAF", "LEAF"], "01"],
    ["two coders and a read-only job fit together", ["LEAF", "CODE", "SCOUT"], "012"],
    ["a coder that does not fit is passed over for a smaller job", ["LEAF", "LEAF", "DRAFT", "SCOUT"], "013"],
    ["a build admits no coder, though the ceiling would", ["BUILD", "LEAF"], "0"],
    ["a coder admits no build", ["LEAF", "INTEGRATION", "LEAF"], "02"],
    ["a second build is not admitted", ["BUILD", "INTEGRATE", "SCOUT"], "02"],
    ["an unknown kind counts as a build", ["what", "LEAF", "SCOUT"], "02"],
    ["running jobs take their places", ["LEAF!", "LEAF", "LEAF"], "1"],
    ["a running build keeps coders out, and the floor does not help them", ["BUILD!", "LEAF"], ""],
    ["three running jobs leave no place", ["SCOUT!", "SCOUT!", "SCOUT!", "SCOUT"], ""],
  ])("%s", (_law, kinds, expected) => {
    expect(wave(kinds)).toBe(expected);
  });

  test("a wave is never wider than the gas", () => {
    expect(wave(["SCOUT", "SCOUT", "SCOUT"], ample, 2)).toBe("01");
    expect(wave(["SCOUT"], ample, 0)).toBe("");
  });

  test("3072 MB stay free after the new jobs; running ones are already in the sample", () => {
    expect(wave(["LEAF", "LEAF"], 3072 + 2600)).toBe("01");
    expect(wave(["LEAF", "LEAF"], 3072 + 2599)).toBe("0");
    expect(wave(["LEAF!", "LEAF"], 3072 + 1300)).toBe("1");
    expect(wave(["LEAF!", "LEAF"], 3072 + 1299)).toBe("");
  });

  test("with no memory at all the smallest ready job still goes, alone and only if nothing runs", () => {
    expect(wave(["BUILD", "LEAF", "LEAF"], 0)).toBe("1");
    expect(wave(["BUILD"], Number.NaN)).toBe("0");
    expect(wave(["SCOUT!", "LEAF"], 0)).toBe("");
  });

  test("whatever the plan, a wave holds ready jobs once each, in order, within width and gas, and work never stalls", () => {
    const kind = fc.constantFrom("SCOUT", "LEAF", "BUILD", "SCOUT!", "LEAF!", "odd");
    fc.assert(
      fc.property(fc.array(kind, { maxLength: 12 }), fc.nat(9000), fc.nat(5), (kinds, freeMb, gas) => {
        const picked = nextWave(dagOf(kinds, gas), freeMb).map((job) => Number(job.job_id));
        const running = kinds.filter((word) => word.endsWith("!")).length;
        expect(picked).toEqual([...new Set(picked)].sort((a, b) => a - b));
        expect(picked.every((at) => !kinds[at]?.endsWith("!"))).toBe(true);
        expect(picked.length).toBeLessThanOrEqual(Math.max(0, Math.min(3 - running, gas)));
        if (running === 0 && kinds.length > 0 && gas > 0) expect(picked.length).toBeGreaterThan(0);
      }),
    );
  });
});
