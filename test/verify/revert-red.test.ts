import { describe, expect, it } from "vitest";
import type { CommandEvidence, Measure, TestsEvidence } from "../../scripts/verify/evidence.ts";
import { furtherRuns, type Measured, revertRed } from "../../scripts/verify/revert-red.ts";
import type { TestStatus } from "../../scripts/verify/test-run.ts";
import { command, tests } from "../support/judgments.ts";

/** What a command left: its code or ending, and its tests by id. */
function measured(
  ended: Partial<CommandEvidence>,
  results: Readonly<Record<string, TestStatus>>,
  more: Partial<TestsEvidence> = {},
): Measured {
  const statuses = Object.values(results);
  const count = (...wanted: readonly TestStatus[]) => statuses.filter((status) => wanted.includes(status)).length;
  const measure: Measure = {
    v: 1,
    pass: 0,
    attempt: 1,
    command: { ...command, ...ended },
    tests: { ...tests, passed: count("pass"), failed: count("fail", "error"), skipped: count("skip"), ...more },
    tree: { before: "a", after: "a" },
    leftovers: "none",
  };
  return { measure, results: Object.entries(results).map(([id, status]) => ({ id, status })) };
}

const green = measured({}, { old: "pass", new: "pass" });
const both = { tests: 1, sources: 1 };

describe("which commands follow", () => {
  it("a green one with changed tests and sources asks for the tests without the change", () => {
    expect(furtherRuns("verify", green, both)).toEqual(["revert"]);
    expect(furtherRuns("verify", green, { tests: 0, sources: 1 })).toEqual([]);
    expect(furtherRuns("verify", green, { tests: 1, sources: 0 })).toEqual([]);
  });

  it("a red one of a known runner asks for the base; of an unknown one the project's own fault may be what is red", () => {
    expect(furtherRuns("verify", measured({ code: 1 }, { old: "fail" }), both)).toEqual(["baseline"]);
    expect(furtherRuns("verify", measured({ code: 1 }, {}, { runners: [] }), both)).toEqual([]);
  });

  it("one that did not exit by itself, or ran no test, asks for nothing", () => {
    for (const ending of ["timed-out", "memory", "output", "killed", "lost", "unstarted"] as const) {
      expect(furtherRuns("verify", measured({ ending }, {}), both)).toEqual([]);
    }
    expect(furtherRuns("verify", measured({}, { old: "skip" }), both)).toEqual([]);
  });

  it("where nothing passes without the change, the base says whether a fresh tree can run anything", () => {
    expect(furtherRuns("revert", measured({ code: 1 }, {}), both)).toEqual(["baseline"]);
    expect(furtherRuns("revert", measured({ code: 1 }, { old: "pass", new: "fail" }), both)).toEqual([]);
    expect(furtherRuns("baseline", measured({ code: 1 }, {}), both)).toEqual([]);
  });
});

describe("the changed tests without the change", () => {
  const base = measured({}, { old: "pass" });

  it("V-04: are red if one that passes with it ran there and did not pass", () => {
    expect(revertRed(green, measured({ code: 1 }, { old: "pass", new: "fail" }), null, both)).toEqual({
      status: "red",
    });
  });

  it("V-04: are green if they all pass there too, whatever else is green", () => {
    expect(revertRed(green, measured({}, { old: "pass", new: "pass" }), null, both)).toEqual({ status: "green" });
  });

  it("do not build without it: red only where a fresh tree of the base runs its tests", () => {
    const broken = measured({ code: 2 }, {});
    expect(revertRed(green, broken, base, both)).toEqual({ status: "red-build" });
    for (const bare of [null, measured({ code: 1 }, {})]) {
      expect(revertRed(green, broken, bare, both)).toMatchObject({ status: "not-run" });
    }
  });

  it("an unrelated test that fails there and here is no sign", () => {
    const flaky = measured({ code: 1 }, { old: "pass", new: "pass", other: "fail" });
    const here = measured({}, { old: "pass", new: "pass", other: "skip" });
    expect(revertRed(here, flaky, null, both).status).not.toBe("green");
    expect(
      revertRed(measured({}, { old: "pass", new: "pass" }), measured({}, { old: "pass", new: "pass" }), null, both)
        .status,
    ).toBe("green");
  });

  it.each([
    ["no test changed", green, { tests: 0, sources: 1 }],
    ["only tests changed", green, { tests: 1, sources: 0 }],
    ["the verify command did not succeed", measured({ code: 1 }, {}), both],
  ] as const)("are not run, and it is said why: %s", (reason, verify, change) => {
    expect(revertRed(verify, null, null, change)).toEqual({ status: "not-run", reason });
  });

  it("are not run where the command was ended from outside", () => {
    expect(revertRed(green, measured({ ending: "timed-out" }, {}), null, both)).toMatchObject({
      status: "not-run",
      reason: "the command was ended: timed-out",
    });
  });
});
