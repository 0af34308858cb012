import { describe, expect, it } from "vitest";
import type { Evidence, OtherCommand } from "../../scripts/verify/evidence.ts";
import { noTests } from "../../scripts/verify/evidence.ts";
import { ranDefects } from "../../scripts/verify/ran-defects.ts";
import { command, good, ids, tests } from "../support/judgments.ts";

const sides = (evidence: Evidence) => {
  const { mendable, ours } = ranDefects(evidence);
  return [ids(mendable), ids(ours)];
};
const red = { ...command, code: 1 };
const nothing = { ...noTests, runners: ["pytest"] };
const brokenBase: OtherCommand = { command: red, tests: nothing };

describe("what was run", () => {
  it("is content with passing tests", () => {
    expect(sides(good)).toEqual([[], []]);
  });

  it("a red command goes to the coder", () => {
    expect(sides({ ...good, command: red })).toEqual([["runcheck"], []]);
  });

  it("V-04, V-05: a green command without a passing test is no evidence; without a runner no coder can mend that", () => {
    expect(sides({ ...good, tests: { ...tests, passed: 0, skipped: 3 } })).toEqual([["untested"], []]);
    expect(sides({ ...good, tests: { ...tests, faults: ["report-torn"] } })).toEqual([["untested"], []]);
    expect(sides({ ...good, tests: noTests })).toEqual([[], ["untested"]]);
  });

  it("V-05: a failing test in a report outweighs an exit with 0", () => {
    expect(sides({ ...good, tests: { ...tests, failed: 1 } })).toEqual([["tests-failed"], []]);
  });

  it.each(["unstarted", "killed", "lost"] as const)("an ending %s burns no pass of the coder", (ending) => {
    expect(sides({ ...good, command: { ...command, ending }, tests: noTests })).toEqual([[], ["runcheck"]]);
  });

  it("what is as broken without the change is the place's fault, and said", () => {
    expect(sides({ ...good, command: red, tests: nothing, baseline: brokenBase })).toEqual([
      [],
      ["runcheck", "environment"],
    ]);
  });

  it("a test that fails before and after is still the coder's: it may be the very fault that was asked about", () => {
    const failing = { ...tests, passed: 0, failed: 1 };
    expect(sides({ ...good, command: red, tests: failing, baseline: { command: red, tests: failing } })).toEqual([
      ["runcheck"],
      [],
    ]);
    expect(sides({ ...good, command: red, tests: noTests, baseline: { command: red, tests: noTests } })).toEqual([
      ["runcheck"],
      [],
    ]);
  });

  it("tests that pass without the change, and a setup that failed, are said and block nothing", () => {
    const { mendable } = ranDefects({ ...good, revertRed: { status: "green" }, setup: red });
    expect(mendable.map(({ id, severity }) => [id, severity])).toEqual([
      ["revert-green", "MEDIUM"],
      ["setup", "MEDIUM"],
    ]);
  });
});
