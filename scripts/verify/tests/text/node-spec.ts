import { isWholeFile } from "../junit.ts";
import { addBareSummary, addRun, newTally, type TextReader } from "../tally.ts";

const words = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms"];

/** Marks of the spec reporter, then its block `ℹ tests N` … `ℹ duration_ms N`. A file without a test is no test. */
export const readNodeSpec: TextReader = (lines) => {
  const tally = newTally();
  let framed = false;
  let wholeFiles = 0;
  let suites = new Set<string>();
  let block = new Map<string, number>();
  for (const line of lines) {
    const item = /^ℹ ([a-z_]{4,12}) (\d{1,9})(?:\.\d{1,20})?\s{0,4}$/.exec(line);
    const word = item?.[1] ?? "";
    if (item === null || !words.includes(word)) {
      if (line.startsWith("▶ ")) suites.add(line.slice(2));
      const mark = /^\s{0,200}([✔✖﹣]) (\S.*)$/.exec(line);
      if (mark === null) continue;
      framed = true;
      const name = /^(.*) \([\d.]{1,20}ms\)/.exec(mark[2] ?? "")?.[1] ?? "";
      if (line.startsWith("✔") && isWholeFile(name) && !suites.has(name)) wholeFiles += 1;
      continue;
    }
    if (word === "tests") block = new Map();
    block.set(word, Number(item[2]));
    if (word !== "duration_ms" || !block.has("pass")) continue;
    const at = (key: string) => block.get(key) ?? 0;
    const failed = at("fail") + at("cancelled");
    const passed = at("pass") - wholeFiles;
    if (framed || passed <= 0) addRun(tally, { passed, failed, skipped: at("skipped") + at("todo") });
    else addBareSummary(tally, failed);
    block = new Map();
    wholeFiles = 0;
    suites = new Set();
    framed = false;
  }
  return tally;
};
