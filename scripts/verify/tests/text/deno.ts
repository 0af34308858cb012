import { addBareSummary, addRun, addSuiteFailure, countsOf, newTally, numberOf, type TextReader } from "../tally.ts";

/** `running N tests from …`, then `ok | 2 passed (1 step) | 0 failed | 1 ignored (9ms)`. */
export const readDeno: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  for (const line of lines) {
    if (/^running \d{1,9} tests? from \S/.test(line)) framed = true;
    if (/^error: Type checking failed\.$/.test(line)) addSuiteFailure(tally);
    const match = /^(ok|FAILED) \| (\d{1,9} passed.{0,300})$/.exec(line);
    if (match === null) continue;
    const counts = countsOf((match[2] ?? "").replace(/ \([^()]{0,60}\)/g, ""), " | ");
    if (counts === null) continue;
    const [passed, named] = [numberOf(counts, "passed"), numberOf(counts, "failed")];
    const failed = match[1] === "FAILED" ? Math.max(1, named) : named;
    if (framed || passed === 0) addRun(tally, { passed, failed, skipped: numberOf(counts, "ignored") });
    else addBareSummary(tally, failed);
    framed = false;
  }
  return tally;
};
