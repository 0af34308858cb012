import { addBareSummary, addRun, addSuiteFailure, newTally, numberOf, type TextReader } from "../tally.ts";

/** `PASS file` lines, then `Test Suites: …` with `Tests: …` right below it. */
export const readJest: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  let broken = false;
  let suites: ReadonlyMap<string, number> | null = null;
  for (const line of lines) {
    if (/^\s?(?:PASS|FAIL)\s{1,2}\S/.test(line)) framed = true;
    if (line === "  ● Test suite failed to run") broken = true;
    const tests = summaryLine(line, "Tests:");
    if (tests !== null && suites !== null) {
      const [passed, failed] = [numberOf(tests, "passed"), numberOf(tests, "failed")];
      if (framed || passed === 0) {
        addRun(tally, { passed, failed, skipped: numberOf(tests, "skipped", "todo", "pending") });
      } else addBareSummary(tally, failed);
      const brokenSuites = numberOf(suites, "failed");
      if (brokenSuites > 0 && failed === 0) addSuiteFailure(tally, brokenSuites);
      else if (broken) tally.faults.add("suite-failed");
      broken = false;
      framed = false;
    }
    suites = summaryLine(line, "Test Suites:");
  }
  return tally;
};

function summaryLine(line: string, title: string): ReadonlyMap<string, number> | null {
  if (!line.startsWith(`${title} `) || line.length > 400) return null;
  const counts = new Map<string, number>();
  for (const item of line.slice(title.length).trim().split(", ")) {
    const match = /^(\d{1,9}) (?:of \d{1,9} )?([a-z]{1,20})$/.exec(item);
    if (match === null) return null;
    counts.set(match[2] ?? "", Number(match[1]));
  }
  return counts;
}
