import { addBareSummary, addRun, addSuiteFailure, newTally, type TextReader } from "../tally.ts";

const summary =
  /^(\d{1,9}) examples?, (\d{1,9}) failures?(?:, (\d{1,9}) pending)?(?:, (\d{1,9}) errors? occurred outside of examples)?$/;

/** `Finished in … seconds (files took …)`, and right below it the count of examples. */
export const readRspec: TextReader = (lines) => {
  const tally = newTally();
  lines.forEach((line, at) => {
    const match = summary.exec(line);
    if (match === null) return;
    const [examples, failed, skipped, outside] = [1, 2, 3, 4].map((group) => Number(match[group] ?? 0));
    const counts = {
      passed: Math.max(0, (examples ?? 0) - (failed ?? 0) - (skipped ?? 0)),
      failed: failed ?? 0,
      skipped: skipped ?? 0,
    };
    const framed = /^Finished in [\d.a-z ]{1,60} \(files took [\d.a-z ]{1,60} to load\)$/.test(lines[at - 1] ?? "");
    if (framed) addRun(tally, counts);
    else addBareSummary(tally, counts.failed);
    if ((outside ?? 0) > 0) addSuiteFailure(tally, outside);
  });
  return tally;
};
