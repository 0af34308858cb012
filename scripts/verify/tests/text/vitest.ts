import { addBareSummary, addRun, addSuiteFailure, countsOf, newTally, numberOf, type TextReader } from "../tally.ts";

/** ` RUN  v…`, then `Test Files …` with `Tests …` right below it; `Errors …` counts what failed outside of tests. */
export const readVitest: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  let files: ReadonlyMap<string, number> | null = null;
  for (const line of lines) {
    if (/^\s{0,4}(?:RUN|DEV|RERUN)\s{1,4}(?:v\d|\S)/.test(line)) framed = true;
    const tests = summaryLine(line, "Tests");
    const errors = summaryLine(line, "Errors") ?? summaryLine(line, "Type Errors");
    if (errors !== null && tally.runs > 0) addSuiteFailure(tally, numberOf(errors, "error", "errors"));
    if (tests !== null && files !== null) {
      const failed = numberOf(tests, "failed");
      if (framed) {
        addRun(tally, {
          passed: numberOf(tests, "passed", "expected fail"),
          failed,
          skipped: numberOf(tests, "skipped", "todo"),
        });
      } else addBareSummary(tally, failed);
      const brokenFiles = numberOf(files, "failed");
      if (brokenFiles > 0 && failed === 0) addSuiteFailure(tally, brokenFiles);
      framed = false;
    }
    if (line.trim() !== "") files = summaryLine(line, "Test Files");
  }
  return tally;
};

/** `  Tests  1 failed | 3 passed (4)`, or `no tests`, which is an empty count. */
function summaryLine(line: string, title: string): ReadonlyMap<string, number> | null {
  const trimmed = line.trimStart();
  if (line.length - trimmed.length > 12 || !trimmed.startsWith(`${title}  `)) return null;
  const text = trimmed.slice(title.length).trim();
  if (text === "no tests") return new Map();
  return countsOf(text.replace(/ \(\d{1,9}\)$/, ""), " | ");
}
