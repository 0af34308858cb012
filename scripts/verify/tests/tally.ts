import type { TestFault, TestResult } from "../test-run.ts";
import type { TestNames } from "./test-id.ts";

/** What a runner's output said, summed over all of its runs in it. */
export interface Tally {
  /** Runs of the runner that came to their end and said so. */
  runs: number;
  passed: number;
  failed: number;
  skipped: number;
  results: TestResult[];
  faults: Set<TestFault>;
}

/** Reads lines without colours. Never throws; `passed` counts only what stands in the runner's own frame. */
export type TextReader = (lines: readonly string[], names: TestNames) => Tally;

export function newTally(): Tally {
  return { runs: 0, passed: 0, failed: 0, skipped: 0, results: [], faults: new Set() };
}

export function addRun(tally: Tally, run: { passed: number; failed: number; skipped: number }): void {
  tally.runs += 1;
  tally.passed += Math.max(0, run.passed);
  tally.failed += Math.max(0, run.failed);
  tally.skipped += Math.max(0, run.skipped);
}

/** A suite that could not be loaded or compiled: none of its tests ran, so it counts as one failure. */
export function addSuiteFailure(tally: Tally, times = 1): void {
  tally.failed += times;
  tally.faults.add("suite-failed");
}

/** Failures in a summary count wherever it stands; passes only inside the runner's own frame. */
export function addBareSummary(tally: Tally, failed: number): void {
  tally.failed += failed;
  tally.faults.add("summary-without-tests");
}

export function addTally(into: Tally, other: Tally): void {
  into.runs += other.runs;
  into.passed += other.passed;
  into.failed += other.failed;
  into.skipped += other.skipped;
  for (const result of other.results) into.results.push(result);
  for (const fault of other.faults) into.faults.add(fault);
}

/**
 * `3 passed, 1 failed` by word; null where one item is no such count or the text is longer than a summary is. A word
 * told twice is added up.
 */
export function countsOf(text: string, separator: string): ReadonlyMap<string, number> | null {
  if (text.length > 400) return null;
  const counts = new Map<string, number>();
  for (const item of text.split(separator)) {
    const match = /^\s{0,20}(\d{1,9}) ([A-Za-z][A-Za-z ]{0,40})$/.exec(item.trimEnd());
    if (match === null) return null;
    const word = match[2] ?? "";
    counts.set(word, (counts.get(word) ?? 0) + Number(match[1]));
  }
  return counts;
}

export function numberOf(counts: ReadonlyMap<string, number>, ...words: readonly string[]): number {
  return words.reduce((sum, word) => sum + (counts.get(word) ?? 0), 0);
}
