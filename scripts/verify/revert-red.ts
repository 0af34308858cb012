/**
 * Whether the changed tests fail without the change: the frozen command on the base with only the changed test files.
 * A test that passes there too shows nothing about the change.
 */
import type { CommandRole } from "./command-role.ts";
import { commandSucceeded, type Evidence, type Measure } from "./evidence.ts";
import type { TestResult } from "./test-run.ts";

/** A command's record with its single results read back; no results where they were not counted one by one. */
export interface Measured {
  readonly measure: Measure;
  readonly results: readonly TestResult[];
}

/** What of the change the tests can be measured against. */
export interface TestsOfChange {
  /** Test files added or modified. */
  readonly tests: number;
  /** Other files that changed in any way. */
  readonly sources: number;
}

/** Commands that are wanted because of how one ended. `baseline` tells a broken place from a broken change. */
export function furtherRuns(of: CommandRole, { measure }: Measured, change: TestsOfChange): readonly CommandRole[] {
  const ended = measure.command.ending === "exited";
  if (of === "verify") {
    if (!ended) return [];
    // Without a runner nothing tells a red place from a red change: the project's own check may be what shows the fault.
    if (!commandSucceeded(measure.command)) return measure.tests.runners.length > 0 ? ["baseline"] : [];
    if (measure.tests.passed === 0) return [];
    return change.tests > 0 && change.sources > 0 ? ["revert"] : [];
  }
  // Nothing passed: are the tests red, or can nothing run in a fresh tree?
  if (of === "revert" && ended && measure.tests.passed === 0) return ["baseline"];
  return [];
}

type RevertRed = Evidence["revertRed"];

/** `red` and `red-build` show that the changed tests see the change; `green` that they do not; else why it is unknown. */
export function revertRed(
  verify: Measured,
  revert: Measured | null,
  baseline: Measured | null,
  change: TestsOfChange,
): RevertRed {
  if (!commandSucceeded(verify.measure.command)) return notRun("the verify command did not succeed");
  if (change.tests === 0) return notRun("no test changed");
  if (change.sources === 0) return notRun("only tests changed");
  if (revert === null) return notRun("no passing test was counted");
  const { command, tests } = revert.measure;
  if (command.ending !== "exited") return notRun(`the command was ended: ${command.ending}`);
  if (turnedRed(verify.results, revert.results)) return { status: "red" };
  if (commandSucceeded(command)) {
    return tests.passed > 0 ? { status: "green" } : notRun("no passing test was counted without the change");
  }
  if (tests.passed > 0) return { status: tests.failed > 0 ? "red" : "green" };
  if (baseline === null || baseline.measure.tests.passed === 0) return notRun("a fresh tree cannot run the tests");
  return { status: "red-build" };
}

/** A test that passes with the change and ran without it, and did not pass there. */
function turnedRed(withChange: readonly TestResult[], without: readonly TestResult[]): boolean {
  const failing = new Set(without.filter(({ status }) => status === "fail").map(({ id }) => id));
  return withChange.some(({ id, status }) => status === "pass" && failing.has(id));
}

function notRun(reason: string): RevertRed {
  return { status: "not-run", reason };
}
