import { addBareSummary, addRun, newTally, type TextReader } from "../tally.ts";

/** Its banner, then `OK (N tests, …)`, `Tests: N, Assertions: …, Failures: ….`, or `No tests executed!`. */
export const readPhpunit: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  for (const line of lines) {
    if (/^PHPUnit \d[\w.-]{0,30} by Sebastian Bergmann/.test(line)) framed = true;
    const ok = /^OK \((\d{1,9}) tests?, \d{1,9} assertions?\)\s{0,80}$/.exec(line);
    const counts = ok === null ? countsOfLine(line) : new Map([["Tests", Number(ok[1])]]);
    if (/^No tests executed!\s{0,80}$/.test(line)) tally.runs += 1;
    if (counts === null) continue;
    const of = (word: string) => counts.get(word) ?? 0;
    const failed = of("Failures") + of("Errors");
    const skipped = of("Skipped") + of("Incomplete");
    const passed = of("Tests") - failed - skipped;
    if (framed || passed <= 0) addRun(tally, { passed, failed, skipped });
    else addBareSummary(tally, failed);
    framed = false;
  }
  return tally;
};

/** `Tests: 7, Assertions: 6, Skipped: 1.` */
function countsOfLine(line: string): ReadonlyMap<string, number> | null {
  const text = line.trimEnd();
  if (!text.startsWith("Tests: ") || !text.endsWith(".") || text.length > 400) return null;
  const counts = new Map<string, number>();
  for (const item of text.slice(0, -1).split(", ")) {
    const match = /^([A-Z][A-Za-z ]{0,30}): (\d{1,9})$/.exec(item);
    if (match === null) return null;
    counts.set(match[1] ?? "", Number(match[2]));
  }
  return counts.has("Assertions") ? counts : null;
}
