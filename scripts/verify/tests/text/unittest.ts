import { addBareSummary, addRun, newTally, type TextReader } from "../tally.ts";

/** A rule of dashes, `Ran N tests in …`, an empty line, then `OK`, `FAILED` or `NO TESTS RAN`. */
export const readUnittest: TextReader = (lines) => {
  const tally = newTally();
  lines.forEach((line, at) => {
    const ran = /^Ran (\d{1,9}) tests? in [\d.]{1,20}s$/.exec(line);
    if (ran === null) return;
    const end = lines.slice(at + 1, at + 4).find((next) => next.trim() !== "") ?? "";
    const verdict = /^(OK|FAILED|NO TESTS RAN)(?: \(([a-z0-9=, ]{1,200})\))?$/.exec(end);
    if (verdict === null) {
      tally.faults.add("interrupted");
      return;
    }
    const counts = new Map<string, number>();
    for (const item of (verdict[2] ?? "").split(", ")) {
      const match = /^([a-z ]{1,30})=(\d{1,9})$/.exec(item);
      if (match !== null) counts.set(match[1] ?? "", Number(match[2]));
    }
    const of = (word: string) => counts.get(word) ?? 0;
    const named = of("failures") + of("errors") + of("unexpected successes");
    const failed = verdict[1] === "FAILED" ? Math.max(1, named) : named;
    const skipped = of("skipped") + of("expected failures");
    const passed = Math.max(0, Number(ran[1]) - named - skipped);
    if (/^-{20,100}$/.test(lines[at - 1] ?? "")) addRun(tally, { passed, failed, skipped });
    else addBareSummary(tally, failed);
  });
  return tally;
};
