import { addBareSummary, addRun, addSuiteFailure, newTally, type TextReader } from "../tally.ts";

/** Marks of the spec and dot reporters, then `  N passing (…)` and its `N pending`, `N failing`. */
export const readMocha: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  let open: { passed: number; failed: number; skipped: number } | null = null;
  const close = () => {
    if (open === null) return;
    if (framed || open.passed === 0) addRun(tally, open);
    else addBareSummary(tally, open.failed);
    open = null;
    framed = false;
  };
  for (const line of lines) {
    const summary = /^ {2}(\d{1,9}) (passing|pending|failing)(?: \([^()]{1,30}\))?\s{0,4}$/.exec(line);
    if (summary !== null) {
      const [count, word] = [Number(summary[1]), summary[2]];
      if (word === "passing") {
        close();
        open = { passed: count, failed: 0, skipped: 0 };
      } else if (open !== null && word === "pending") open.skipped += count;
      else if (open !== null) open.failed += count;
      continue;
    }
    if (open !== null && line.trim() !== "") close();
    if (/^\s{2,200}(?:[✔✓√] |\d{1,6}\) )/.test(line) || /^ {2}[.․!,]{1,400}\s{0,4}$/.test(line)) framed = true;
    // Printed before any test when a file cannot be loaded.
    if (/^\s?(?:✖ ERROR: |Exception during run: )/.test(line)) addSuiteFailure(tally);
  }
  close();
  return tally;
};
