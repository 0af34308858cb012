import { addBareSummary, addRun, addSuiteFailure, countsOf, newTally, numberOf, type TextReader } from "../tally.ts";

/** `Starting N tests …`, a line for each, then `Summary [ …s] N tests run: 3 passed (1 flaky), 1 failed, 2 skipped`. */
export const readNextest: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  for (const line of lines) {
    if (/^\s{1,12}(?:Starting \d{1,9} tests? across|PASS \[\s{0,8}[\d.]{1,12}s\])/.test(line)) framed = true;
    if (/^error: could not compile /.test(line)) addSuiteFailure(tally);
    const match = /^\s{1,12}Summary \[\s{0,8}[\d.]{1,12}s\] (\d{1,9})(?:\/(\d{1,9}))? tests? run: (.{1,300})$/.exec(
      line,
    );
    if (match === null) continue;
    const counts = countsOf((match[3] ?? "").replace(/ \([^()]{0,60}\)/g, ""), ", ");
    if (counts === null) continue;
    const passed = numberOf(counts, "passed");
    const failed = numberOf(counts, "failed", "timed out", "exec failed");
    if (framed || passed === 0) addRun(tally, { passed, failed, skipped: numberOf(counts, "skipped") });
    else addBareSummary(tally, failed);
    if (match[2] !== undefined && match[2] !== match[1]) tally.faults.add("interrupted");
    framed = false;
  }
  return tally;
};
