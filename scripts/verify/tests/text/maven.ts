import { addBareSummary, addRun, addSuiteFailure, newTally, type TextReader } from "../tally.ts";

const counts =
  /^(?:\[[A-Z]{4,7}\] )?Tests run: (\d{1,9}), Failures: (\d{1,9}), Errors: (\d{1,9}), Skipped: (\d{1,9})(?:, Flakes: \d{1,9})?\s{0,4}$/;

/** `T E S T S`, classes with their times, then `Results:` and one line without a time, for each module. */
export const readMaven: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  for (const line of lines) {
    if (/^(?:\[INFO\] )?\s{0,2}T E S T S\s{0,4}$/.test(line)) framed = true;
    if (/^\[ERROR\] COMPILATION ERROR ?:/.test(line)) addSuiteFailure(tally);
    const match = counts.exec(line);
    if (match === null) continue;
    const [run, failures, errors, skipped] = [1, 2, 3, 4].map((group) => Number(match[group]));
    const failed = (failures ?? 0) + (errors ?? 0);
    const passed = (run ?? 0) - failed - (skipped ?? 0);
    if (framed || passed <= 0) addRun(tally, { passed, failed, skipped: skipped ?? 0 });
    else addBareSummary(tally, failed);
    framed = false;
  }
  return tally;
};
