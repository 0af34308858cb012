import { readingOf } from "../../test-run.ts";
import { readGoEvents } from "../go-json.ts";
import { addRun, addSuiteFailure, addTally, newTally, type Tally, type TextReader } from "../tally.ts";
import type { TestNames } from "../test-id.ts";

/** `ok`, `FAIL` and `?` lines of packages; tests one by one with `-v`, and events with `-json`. */
export const readGo: TextReader = (lines, names) => {
  const events = lines.filter((line) => line.startsWith("{"));
  const tally = newTally();
  if (events.length > 0) addTally(tally, eventTally(events, names));
  addTally(tally, packageTally(lines, names));
  return tally;
};

function eventTally(events: readonly string[], names: TestNames): Tally {
  const tally = newTally();
  const read = readGoEvents(events, names);
  if (read.events === 0) return tally;
  const { passed, failed, skipped, results } = readingOf("go", "text", read.results);
  addRun(tally, { passed, failed, skipped });
  tally.results = [...results];
  for (const fault of read.faults) tally.faults.add(fault);
  return tally;
}

function packageTally(lines: readonly string[], names: TestNames): Tally {
  const tally = newTally();
  let verbose = false;
  let ended = new Map<string, "pass" | "fail" | "skip">();
  for (const line of lines) {
    if (line.startsWith("=== RUN ")) verbose = true;
    const test = /^\s{0,200}--- (PASS|FAIL|SKIP): (\S{1,400}) \([\d.]{1,20}s\)$/.exec(line);
    if (test !== null) ended.set(test[2] ?? "", (test[1] ?? "").toLowerCase() as "pass" | "fail" | "skip");
    const done = /^(ok {2}|FAIL|\? {3})\s(\S{1,400})(?:\s(.{0,200}))?$/.exec(line);
    if (done === null) continue;
    const [word, name, rest] = [done[1] ?? "", done[2] ?? "", done[3] ?? ""];
    if (word === "FAIL" && /\[(?:build|setup) failed\]/.test(rest)) addSuiteFailure(tally);
    else if (word === "ok  " && rest.includes("[no tests to run]")) tally.runs += 1;
    else if (word !== "?   ") addPackage(tally, { name, word, verbose, ended }, names);
    verbose = false;
    ended = new Map();
  }
  return tally;
}

interface Package {
  readonly name: string;
  readonly word: string;
  readonly verbose: boolean;
  readonly ended: ReadonlyMap<string, "pass" | "fail" | "skip">;
}

/** Without `-v` a package that is `ok` counts as one test: more is not said. */
function addPackage(tally: Tally, { name, word, verbose, ended }: Package, names: TestNames): void {
  const groups = new Set(
    [...ended.keys()].flatMap((test) => (test.includes("/") ? [test.slice(0, test.lastIndexOf("/"))] : [])),
  );
  const single = [...ended].filter(([test]) => !groups.has(test));
  const count = (status: string) => single.filter(([, one]) => one === status).length;
  const failed = word === "FAIL" ? Math.max(1, count("fail")) : count("fail");
  if (word === "FAIL" && count("fail") === 0) tally.faults.add("suite-failed");
  if (!verbose) {
    addRun(tally, { passed: word === "ok  " ? 1 : 0, failed, skipped: 0 });
    return;
  }
  addRun(tally, { passed: count("pass"), failed, skipped: count("skip") });
  for (const [test, status] of single) tally.results.push({ id: names.id(name, [], test), status });
}
