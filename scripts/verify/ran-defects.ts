/** Defects of what was run: the frozen command, its tests, and the changed tests without the change. */
import type { Defect } from "./defect.ts";
import { commandSucceeded, type Evidence, endingSentence } from "./evidence.ts";

export interface RanDefects {
  /** A coder can mend them. */
  readonly mendable: readonly Defect[];
  /** They block, and no change of the tree would end them. */
  readonly ours: readonly Defect[];
}

const runs = { category: "DOES-IT-RUN", severity: "CRITICAL", location: "verify_cmd" } as const;

export function ranDefects(evidence: Evidence): RanDefects {
  const defects = [...commandDefects(evidence), ...testDefects(evidence)];
  const advisory = [...revertDefects(evidence), ...setupDefects(evidence)];
  return isMendable(evidence)
    ? { mendable: [...defects, ...advisory], ours: [] }
    : { mendable: advisory, ours: [...defects, ...environmentDefects(evidence)] };
}

function commandDefects({ command }: Evidence): readonly Defect[] {
  if (commandSucceeded(command)) return [];
  return [{ ...runs, id: "runcheck", fix: `Make the verify command succeed: ${endingSentence(command)}.` }];
}

/** A green exit without a passing test is no evidence, and a failing test in a report outweighs it. */
function testDefects({ command, tests }: Evidence): readonly Defect[] {
  if (!commandSucceeded(command)) return [];
  if (tests.failed > 0) {
    const fix = `${tests.failed} tests failed although the command exited with 0. Make them pass.`;
    return [{ ...runs, id: "tests-failed", fix }];
  }
  const faults = tests.faults ?? [];
  if (tests.source !== "none" && tests.passed > 0 && faults.length === 0) return [];
  const why = faults.length === 0 ? "no passing test was counted" : faults.join(", ");
  return [{ ...runs, id: "untested", fix: `The verify command is no evidence: ${why}. It must run tests that pass.` }];
}

function revertDefects({ revertRed }: Evidence): readonly Defect[] {
  if (revertRed.status !== "green") return [];
  const fix = "The changed tests pass without the change too. Add a test that fails without it.";
  return [{ id: "revert-green", category: "TEST-ADEQUACY", severity: "MEDIUM", location: "tests", fix }];
}

function setupDefects({ setup }: Evidence): readonly Defect[] {
  if (setup === null || setup === undefined || commandSucceeded(setup)) return [];
  const fix = `The setup command did not succeed: ${endingSentence(setup)}.`;
  return [{ id: "setup", category: "DOES-IT-RUN", severity: "MEDIUM", location: "setup_cmd", fix }];
}

function environmentDefects(evidence: Evidence): readonly Defect[] {
  if (!isBrokenAtBase(evidence)) return [];
  const fix = "The verify command runs no passing test before the change either: the place is broken, not the change.";
  return [{ ...runs, id: "environment", fix }];
}

/**
 * A command nobody could start, that was ended from outside or whose performer died is no fault of the change, nor is
 * one that no known runner stands behind, or that is as broken without the change.
 */
function isMendable(evidence: Evidence): boolean {
  const { command, tests } = evidence;
  if (command.ending === "unstarted" || command.ending === "killed" || command.ending === "lost") return false;
  if (isBrokenAtBase(evidence)) return false;
  return !commandSucceeded(command) || tests.failed > 0 || tests.runners.length > 0;
}

/** Neither with nor without the change did one test pass, although runners are known that would say so. */
function isBrokenAtBase({ tests, baseline }: Evidence): boolean {
  if (baseline === null || baseline === undefined) return false;
  if (tests.runners.length === 0) return false;
  const none = tests.passed === 0 && tests.failed === 0 && baseline.tests.passed === 0 && baseline.tests.failed === 0;
  return none && !commandSucceeded(baseline.command);
}
