import { addBareSummary, addRun, newTally, type TextReader } from "../tally.ts";

const item =
  /^ {2}(\d{1,9}) (tests? passed|tests? failed|known failures?|tests? skipped|tests? todo|tests? remained pending[^\n]{0,80}|uncaught exceptions?|unhandled rejections?|hooks? failed)\s{0,4}$/;

/** Marks of its reporter, then one block of `  N tests passed`, `  N tests failed` and so on. */
export const readAva: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  let marks = 0;
  let open: { passed: number; failed: number; skipped: number } | null = null;
  const close = () => {
    if (open === null) return;
    // With a failure the passes are not summed up.
    if (open.passed === 0 && open.failed > 0) open.passed = marks;
    if (framed || open.passed === 0) addRun(tally, open);
    else addBareSummary(tally, open.failed);
    open = null;
    framed = false;
    marks = 0;
  };
  for (const line of lines) {
    const match = item.exec(line);
    if (match === null) {
      close();
      if (/^ {2}(?:[✔✘✖×√] |- \[)/.test(line)) framed = true;
      if (/^ {2}[✔√] (?!\[expected fail\])/.test(line)) marks += 1;
      if (/^ {2}[✘✖×] No tests found in /.test(line)) tally.faults.add("no-tests");
      continue;
    }
    open ??= { passed: 0, failed: 0, skipped: 0 };
    const [count, word] = [Number(match[1]), match[2] ?? ""];
    if (/^tests? passed$/.test(word)) open.passed += count;
    // A known failure is a test that fails as it was said to: it shows nothing of what works.
    else if (/^known|skipped$|todo$/.test(word)) open.skipped += count;
    else open.failed += count;
  }
  close();
  return tally;
};
