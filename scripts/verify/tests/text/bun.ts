import { addBareSummary, addRun, newTally, type TextReader } from "../tally.ts";

/** `bun test v…`, then ` N pass`, ` N fail` and, to end it, `Ran N tests across M files.` */
export const readBun: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  let counts = new Map<string, number>();
  for (const line of lines) {
    if (/^bun test v\d/.test(line)) {
      framed = true;
      counts = new Map();
    }
    const item = /^ {1,6}(\d{1,9}) (pass|fail|skip|todo|errors?)\s{0,4}$/.exec(line);
    if (item !== null) counts.set(item[2] ?? "", Number(item[1]));
    if (!/^Ran \d{1,9} tests? across \d{1,9} files?\./.test(line)) continue;
    const of = (word: string) => counts.get(word) ?? 0;
    const errors = of("error") + of("errors");
    // An error between tests stands among the failures as well.
    const failed = Math.max(of("fail"), errors);
    if (framed || of("pass") === 0) addRun(tally, { passed: of("pass"), failed, skipped: of("skip") + of("todo") });
    else addBareSummary(tally, failed);
    if (errors > 0) tally.faults.add("suite-failed");
    framed = false;
    counts = new Map();
  }
  return tally;
};
