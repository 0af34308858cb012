import type { TestStatus } from "../../test-run.ts";
import { readingOf } from "../../test-run.ts";
import { addRun, addSuiteFailure, newTally, type TextReader } from "../tally.ts";

const statuses: Readonly<Record<string, TestStatus>> = { PASSED: "pass", FAILED: "fail", SKIPPED: "skip" };

/**
 * `Class > test PASSED` where the build logs its tests. By itself gradle names only failures and `N tests completed, M
 * failed`: a green run says nothing in text, its reports do.
 */
export const readGradle: TextReader = (lines, names) => {
  const tally = newTally();
  const results = [];
  let failed = 0;
  for (const line of lines) {
    const test = testLine(line);
    if (test !== null) results.push({ id: names.id("", [test.suite], test.name), status: test.status });
    const completed = /^(\d{1,9}) tests? completed, (\d{1,9}) failed(?:, \d{1,9} skipped)?$/.exec(line);
    if (completed !== null) failed += Number(completed[2]);
    if (/^> Compilation (?:failed; see |error\. See )/.test(line)) addSuiteFailure(tally);
  }
  const reading = readingOf("gradle", "text", results);
  if (results.length > 0 || failed > 0) {
    addRun(tally, { passed: reading.passed, failed: Math.max(reading.failed, failed), skipped: reading.skipped });
  }
  tally.results = [...reading.results];
  return tally;
};

function testLine(line: string): { readonly suite: string; readonly name: string; readonly status: TestStatus } | null {
  const end = line.lastIndexOf(" ");
  const status = statuses[line.slice(end + 1)];
  const at = line.lastIndexOf(" > ", end);
  if (status === undefined || at <= 0 || /^[\s>:]/.test(line)) return null;
  return { suite: line.slice(0, at), name: line.slice(at + 3, end), status };
}
