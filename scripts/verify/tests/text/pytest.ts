import { addBareSummary, addRun, newTally, type Tally, type TextReader } from "../tally.ts";

const words = /^(?:subtests )?(passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun|reruns)$/;

/**
 * A session's head and what it collected, or the progress marks of `-q`; then a summary that ends in a time. Under
 * `-qq` there is no summary: a progress that came to 100 % is one.
 */
export const readPytest: TextReader = (lines) => {
  const tally = newTally();
  let collected = false;
  let progress = newProgress();
  for (const line of lines) {
    if (/^=+ test session starts =+$/.test(line)) {
      addProgress(tally, progress);
      progress = newProgress();
      collected = false;
    }
    const items = /^(?:collecting \.\.\. )?collected (\d{1,9}) items?/.exec(line) ?? workersItems(line);
    if (items !== null && Number(items[1]) > 0) collected = true;
    const marks = /^([.FEsxXRu]{1,400})(?:\s{1,400}\[\s{0,3}(\d{1,3})%\])?\s{0,4}$/.exec(line);
    if (marks !== null) mark(progress, marks[1] ?? "", marks[2]);
    const counts = summary(line);
    if (counts === null) continue;
    const framed = counts.ruled ? collected : collected || progress.marks > 0;
    if (framed || counts.passed === 0) addRun(tally, counts);
    else addBareSummary(tally, counts.failed);
    collected = false;
    progress = newProgress();
  }
  addProgress(tally, progress);
  return tally;
};

interface Progress {
  marks: number;
  passed: number;
  failed: number;
  done: boolean;
}

function newProgress(): Progress {
  return { marks: 0, passed: 0, failed: 0, done: false };
}

function mark(progress: Progress, marks: string, percent: string | undefined): void {
  progress.marks += marks.length;
  for (const one of marks) {
    if (one === ".") progress.passed += 1;
    if (one === "F" || one === "E") progress.failed += 1;
  }
  progress.done = percent === "100";
}

function addProgress(tally: Tally, { marks, passed, failed, done }: Progress): void {
  if (done) addRun(tally, { passed, failed, skipped: marks - passed - failed });
}

/** The head that xdist prints. */
function workersItems(line: string): RegExpExecArray | null {
  return /^\d{1,4} workers? \[(\d{1,9}) items?\]/.exec(line) ?? /^gw0 \[(\d{1,9})\]/.exec(line);
}

interface Summary {
  readonly ruled: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** `=== 1 failed, 2 passed in 0.12s ===`, or the same without rules. A line without the time is a test's own. */
function summary(line: string): Summary | null {
  if (line.length > 400) return null;
  const ruled = line.startsWith("=") && line.endsWith("=");
  const text = ruled ? line.replace(/^=+/, "").replace(/=+$/, "").trim() : line.trimEnd();
  const at = text.lastIndexOf(" in ");
  if (at < 0 || !/^[\d.]{1,20}s(?: \([\d:, a-z]{1,40}\))?$/.test(text.slice(at + 4))) return null;
  const head = text.slice(0, at);
  if (head === "no tests ran") return { ruled, passed: 0, failed: 0, skipped: 0 };
  const sum = { ruled, passed: 0, failed: 0, skipped: 0 };
  for (const item of head.split(", ")) {
    const match = /^(\d{1,9}) ([a-z ]{1,20})$/.exec(item);
    const word = words.exec(match?.[2] ?? "")?.[1];
    if (match === null || word === undefined) return null;
    const count = Number(match[1]);
    if (word === "passed" || word === "xpassed") sum.passed += match[2]?.startsWith("subtests") === true ? 0 : count;
    if (word === "failed" || word.startsWith("error")) sum.failed += count;
    if (word === "skipped" || word === "xfailed") sum.skipped += count;
  }
  return sum;
}
