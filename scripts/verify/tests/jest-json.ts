/** The JSON report of jest and vitest. A suite without a result of its own that failed counts as an error. */
import type { Runner } from "../runner.ts";
import { readingOf, type TestFault, type TestReading, type TestResult, type TestStatus } from "../test-run.ts";
import { arrayAt, numberAt, parsedObject, stringAt } from "./json-fields.ts";
import type { TestNames } from "./test-id.ts";

const resultsMax = 200_000;
const statuses: Readonly<Record<string, TestStatus>> = {
  passed: "pass",
  failed: "fail",
  pending: "skip",
  skipped: "skip",
  todo: "skip",
  disabled: "skip",
};

export function readJestJson(runner: Runner, text: string, names: TestNames): TestReading {
  const report = parsedObject(text);
  const suites = report === null ? null : arrayAt(report, "testResults");
  if (report === null || suites === null) return readingOf(runner, "report", [], ["report-torn"]);
  const results: TestResult[] = [];
  const faults = new Set<TestFault>();
  const seen = { passed: 0, failed: 0 };
  for (const suite of suites) {
    const file = stringAt(suite, "name");
    let bad = false;
    for (const one of arrayAt(suite, "assertionResults") ?? []) {
      // A word that is not known is no pass.
      const status = statuses[stringAt(one, "status")] ?? "error";
      if (status === "pass") seen.passed += 1;
      if (status === "fail" || status === "error") {
        seen.failed += 1;
        bad = true;
      }
      const titles = (arrayAt(one, "ancestorTitles") ?? []).filter((title) => typeof title === "string");
      results.push({ id: names.id(file, titles, stringAt(one, "title")), status });
    }
    if (stringAt(suite, "status") === "failed" && !bad) {
      faults.add("suite-failed");
      results.push({ id: names.id(file, [], "(file)"), status: "error" });
    }
    if (results.length > resultsMax) return readingOf(runner, "report", [], ["report-too-large"]);
  }
  const failedSuites = numberAt(report, "numRuntimeErrorTestSuites") ?? 0;
  if (failedSuites > 0) faults.add("suite-failed");
  if (report.wasInterrupted === true) faults.add("interrupted");
  const { passed, failed } = seen;
  if ((numberAt(report, "numPassedTests") ?? passed) !== passed) faults.add("counts-disagree");
  if ((numberAt(report, "numFailedTests") ?? failed) > failed) faults.add("counts-disagree");
  return readingOf(runner, "report", results, [...faults]);
}
