/** The JSON report of rspec. An error outside of its examples is a suite that could not be loaded. */
import { readingOf, type TestFault, type TestReading, type TestResult, type TestStatus } from "../test-run.ts";
import { arrayAt, fieldsOf, numberAt, parsedObject, stringAt } from "./json-fields.ts";
import type { TestNames } from "./test-id.ts";

const resultsMax = 200_000;
const statuses: Readonly<Record<string, TestStatus>> = { passed: "pass", failed: "fail", pending: "skip" };

export function readRspecJson(text: string, names: TestNames): TestReading {
  const report = parsedObject(text);
  const examples = report === null ? null : arrayAt(report, "examples");
  const summary = report === null ? null : fieldsOf(report.summary);
  if (examples === null || summary === null) return readingOf("rspec", "report", [], ["report-torn"]);
  if (examples.length > resultsMax) return readingOf("rspec", "report", [], ["report-too-large"]);
  const faults = new Set<TestFault>();
  const results = examples.map((example): TestResult => {
    const id = names.id(stringAt(example, "file_path"), [], stringAt(example, "full_description"));
    return { id, status: statuses[stringAt(example, "status")] ?? "error" };
  });
  const failed = results.filter(({ status }) => status === "fail" || status === "error").length;
  if ((numberAt(summary, "example_count") ?? 0) !== examples.length) faults.add("counts-disagree");
  if ((numberAt(summary, "failure_count") ?? 0) > failed) faults.add("counts-disagree");
  if ((numberAt(summary, "errors_outside_of_examples_count") ?? 0) > 0) {
    faults.add("suite-failed");
    results.push({ id: names.id("", [], "(outside of examples)"), status: "error" });
  }
  return readingOf("rspec", "report", results, [...faults]);
}
