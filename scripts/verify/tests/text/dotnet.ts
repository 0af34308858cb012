import { addRun, addSuiteFailure, newTally, type TextReader } from "../tally.ts";

const assembly =
  /^\s{0,4}(Passed|Failed|Skipped)!\s{1,4}- Failed:\s{1,10}(\d{1,9}), Passed:\s{1,10}(\d{1,9}), Skipped:\s{1,10}(\d{1,9}), Total:\s{1,10}\d{1,9}, Duration: [^,]{1,40}? - \S/;
const terminal =
  /^(?:Test summary|Test run summary): total: (\d{1,9}), failed: (\d{1,9}), succeeded: (\d{1,9}), skipped: (\d{1,9}), duration: /;

/** `Passed!  - Failed: 0, Passed: 3, …` for each assembly, or the terminal logger's `Test summary: …`. */
export const readDotnet: TextReader = (lines) => {
  const tally = newTally();
  for (const line of lines) {
    const one = assembly.exec(line);
    if (one !== null) addRun(tally, { failed: Number(one[2]), passed: Number(one[3]), skipped: Number(one[4]) });
    const all = terminal.exec(line);
    if (all !== null) addRun(tally, { failed: Number(all[2]), passed: Number(all[3]), skipped: Number(all[4]) });
    if (/^Build FAILED\.\s{0,4}$/.test(line) || /^Build failed with \d{1,9} error/.test(line)) addSuiteFailure(tally);
    if (/^Test Run Aborted\.?\s{0,4}$/.test(line)) tally.faults.add("interrupted");
  }
  return tally;
};
