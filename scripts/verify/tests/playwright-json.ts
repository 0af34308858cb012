/** The JSON report of playwright: one result for each test of each project; a flaky one has passed in the end. */
import { readingOf, type TestFault, type TestReading, type TestResult, type TestStatus } from "../test-run.ts";
import { arrayAt, fieldsOf, numberAt, parsedObject, stringAt } from "./json-fields.ts";
import type { TestNames } from "./test-id.ts";

const resultsMax = 200_000;
const depthMax = 64;
const statuses: Readonly<Record<string, TestStatus>> = {
  expected: "pass",
  flaky: "pass",
  unexpected: "fail",
  skipped: "skip",
};

export function readPlaywrightJson(text: string, names: TestNames): TestReading {
  const report = parsedObject(text);
  const roots = report === null ? null : arrayAt(report, "suites");
  if (report === null || roots === null) return readingOf("playwright", "report", [], ["report-torn"]);
  const results: TestResult[] = [];
  const faults = new Set<TestFault>();
  const seen = new Map<string, number>();

  const walk = (suite: unknown, titles: readonly string[], depth: number) => {
    if (depth > depthMax || results.length > resultsMax) {
      faults.add("report-too-large");
      return;
    }
    for (const spec of arrayAt(suite, "specs") ?? []) {
      for (const test of arrayAt(spec, "tests") ?? []) {
        const word = stringAt(test, "status");
        seen.set(word, (seen.get(word) ?? 0) + 1);
        const suites = [stringAt(test, "projectName"), ...titles];
        const file = stringAt(spec, "file") || stringAt(suite, "file");
        results.push({ id: names.id(file, suites, stringAt(spec, "title")), status: statuses[word] ?? "error" });
      }
    }
    for (const inner of arrayAt(suite, "suites") ?? []) walk(inner, [...titles, stringAt(inner, "title")], depth + 1);
  };
  for (const root of roots) walk(root, [], 0);

  const errors = arrayAt(report, "errors") ?? [];
  if (errors.length > 0) {
    faults.add("suite-failed");
    results.push({ id: names.id("", [], "(run)"), status: "error" });
  }
  const stats = fieldsOf(report.stats);
  for (const word of ["expected", "unexpected", "flaky"]) {
    const said = numberAt(stats, word);
    if (said !== null && said !== (seen.get(word) ?? 0)) faults.add("counts-disagree");
  }
  const kept = faults.has("report-too-large") ? results.filter(({ status }) => status !== "pass") : results;
  return readingOf("playwright", "report", kept, [...faults]);
}
