/** Test evidence from what a command left: reports before text; a report may lower a result, never lift an exit code. */
import type { TestsEvidence } from "./evidence.ts";
import type { FoundReport } from "./found-report.ts";
import type { ReportRequest } from "./report-request.ts";
import type { Runner } from "./runner.ts";
import type { ResolvedCommand } from "./test-command.ts";
import type { TestFault, TestReading, TestResult } from "./test-run.ts";
import { logLines } from "./tests/log-lines.ts";
import { readReports } from "./tests/read-report.ts";
import { textReading, textTally } from "./tests/read-text.ts";
import { type TestNames, testNames } from "./tests/test-id.ts";

export interface TestsInput {
  readonly resolved: ResolvedCommand;
  readonly request: ReportRequest;
  readonly reports: readonly FoundReport[];
  /** Absolute path of the tree the command ran in, left out of the ids. */
  readonly root?: string;
  /** The last 2 MB of the log. Untrusted. */
  readonly output: string;
  /** Null where the command did not exit by itself. */
  readonly exitCode: number | null;
}

export interface TestsRead {
  readonly tests: Omit<TestsEvidence, "results">;
  readonly results: readonly TestResult[];
}

/** Guarantees counts only for runners the command names. Each of them must have evidence of its own, else a fault. */
export function readTests({ resolved, request, reports, root, output, exitCode }: TestsInput): TestsRead {
  const runners = [...new Set(resolved.runners)];
  const names = testNames(root ?? null);
  const lines = runners.length === 0 ? [] : logLines(output);
  const readings = runners.map((runner) => {
    const asked = request.expected.filter((expected) => expected.runner === runner);
    const found = reports.filter((report) => report.runner === runner);
    return readingOfRunner({ runner, asked, found, lines, names });
  });
  const faults = new Set<string>();
  for (const reading of readings) {
    for (const fault of faultsOf(reading)) faults.add(runners.length > 1 ? `${fault}:${reading.runner}` : fault);
  }
  if (runners.length === 0) for (const word of noRunner(resolved)) faults.add(word);
  if (exitCode === null) faults.add("interrupted");
  const sum = (count: "passed" | "failed" | "skipped") => readings.reduce((total, one) => total + one[count], 0);
  const perTest = readings.some(({ results }) => results.length > 0) && readings.every((one) => one.perTest);
  const results = perTest ? readings.flatMap((one) => one.results) : [];
  return {
    tests: {
      source: sourceOf(readings),
      runners,
      perTest,
      passed: sum("passed"),
      failed: sum("failed"),
      skipped: sum("skipped"),
      faults: [...faults],
    },
    results,
  };
}

interface RunnerInput {
  readonly runner: Runner;
  readonly asked: ReportRequest["expected"];
  readonly found: readonly FoundReport[];
  readonly lines: readonly string[];
  readonly names: TestNames;
}

function readingOfRunner({ runner, asked, found, lines, names }: RunnerInput): TestReading {
  if (found.length === 0 && asked.length > 0) return nothing(runner, "report-missing");
  const tally = textTally(runner, lines, names);
  const text = textReading(runner, tally);
  if (found.length === 0) return text;
  const report = readReports(runner, found, names);
  const faults = new Set(report.faults);
  const isMissing = asked.some(({ format }) => {
    const wanted = asked.filter((one) => one.format === format).length;
    return found.filter((one) => one.format === format).length < wanted;
  });
  if (isMissing) faults.add("report-missing");
  // A second run of the runner writes over the first one's report: its failures stand in the text alone.
  const hidden = asked.length === 0 || tally.runs > found.length;
  if (hidden && text.failed > report.failed) faults.add("counts-disagree");
  return { ...report, faults: [...faults] };
}

/** No passing test at all, were it that every one was skipped, is no evidence. */
function faultsOf(reading: TestReading): readonly TestFault[] {
  const { passed, failed, faults } = reading;
  return passed === 0 && failed === 0 && faults.length === 0 ? ["no-tests"] : faults;
}

function nothing(runner: Runner, fault: TestFault): TestReading {
  return { source: "report", runner, perTest: false, results: [], passed: 0, failed: 0, skipped: 0, faults: [fault] };
}

function noRunner({ unresolved }: ResolvedCommand): readonly string[] {
  return unresolved.length > 0 ? unresolved : ["no-runner"];
}

/** The weakest source that counted something; where nothing was counted there is none. */
function sourceOf(readings: readonly TestReading[]): TestsEvidence["source"] {
  const counted = readings.filter(({ passed, failed, skipped }) => passed + failed + skipped > 0);
  if (counted.length === 0) return "none";
  return counted.every(({ source }) => source === "report") ? "report" : "text";
}
