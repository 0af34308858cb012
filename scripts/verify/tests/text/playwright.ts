import { addRun, newTally, type TextReader } from "../tally.ts";

const item =
  /^ {2}(\d{1,9}) (failed|flaky|interrupted|did not run|skipped|passed|errors? (?:was|were) not a part of any test)[^\n]{0,80}$/;

/** `Running N tests using M workers`, then at its end `  N passed (…)`; the last count of each word stands. */
export const readPlaywright: TextReader = (lines) => {
  const tally = newTally();
  let counts: Map<string, number> | null = null;
  const close = () => {
    if (counts === null) return;
    const at = (word: string) => counts?.get(word) ?? 0;
    addRun(tally, {
      passed: at("passed") + at("flaky"),
      failed: at("failed") + at("interrupted") + at("did not run") + at("errors"),
      skipped: at("skipped"),
    });
    if (at("errors") > 0) tally.faults.add("suite-failed");
    if (at("interrupted") > 0) tally.faults.add("interrupted");
    counts = null;
  };
  for (const line of lines) {
    if (/^Running \d{1,9} tests? using \d{1,9} workers?/.test(line)) {
      close();
      counts = new Map();
    }
    const match = counts === null ? null : item.exec(line);
    if (match === null || counts === null) continue;
    const word = match[2] ?? "";
    counts.set(word.startsWith("error") ? "errors" : word, Number(match[1]));
  }
  close();
  return tally;
};
