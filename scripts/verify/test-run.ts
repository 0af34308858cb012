/** What one reading of a runner's report or output says. Counting only; good and bad are the verdict's. */
import type { Runner } from "./runner.ts";

export type TestStatus = "pass" | "fail" | "error" | "skip";

export interface TestResult {
  /** `<file>::<suite>::<name>`, untrusted text; the same test has the same id in every run. */
  readonly id: string;
  readonly status: TestStatus;
}

/** Why a reading counts against the run, in fixed words. */
export type TestFault =
  | "no-tests"
  | "suite-failed"
  | "report-missing"
  | "report-torn"
  | "report-too-large"
  | "summary-without-tests"
  | "counts-disagree"
  | "interrupted";

export interface TestReading {
  readonly source: "report" | "text";
  readonly runner: Runner;
  /** Whether `results` names single tests; otherwise only the counts say something. */
  readonly perTest: boolean;
  readonly results: readonly TestResult[];
  readonly passed: number;
  /** Failures and errors. */
  readonly failed: number;
  readonly skipped: number;
  readonly faults: readonly TestFault[];
}

/** A reading from single results; several results of one id are one: the worst of them. */
export function readingOf(
  runner: Runner,
  source: TestReading["source"],
  results: readonly TestResult[],
  faults: readonly TestFault[] = [],
): TestReading {
  const worst = new Map<string, TestStatus>();
  for (const { id, status } of results) {
    const before = worst.get(id);
    if (before === undefined || severity(status) > severity(before)) worst.set(id, status);
  }
  const merged = [...worst].map(([id, status]): TestResult => ({ id, status }));
  const count = (...statuses: readonly TestStatus[]) => merged.filter(({ status }) => statuses.includes(status)).length;
  return {
    source,
    runner,
    perTest: true,
    results: merged,
    passed: count("pass"),
    failed: count("fail", "error"),
    skipped: count("skip"),
    faults,
  };
}

function severity(status: TestStatus): number {
  return ["skip", "pass", "fail", "error"].indexOf(status);
}
