/** TAP 12–14 by `tap-parser`: nested tests, skips and those to do, the plan kept or not. Bounded, never throws. */
import { Parser } from "tap-parser";
import type { Runner } from "../runner.ts";
import { readingOf, type TestFault, type TestReading, type TestResult, type TestStatus } from "../test-run.ts";
import { isWholeFile } from "./junit.ts";
import { addTally, newTally, type Tally } from "./tally.ts";
import type { TestNames } from "./test-id.ts";

const resultsMax = 100_000;
const deep = " ".repeat(256);
const wholeFileRunners: readonly Runner[] = ["node-test"];

export function readTap(runner: Runner, text: string, names: TestNames): TestReading {
  const lines = text.split(/\r\n|\n/);
  const runs = tapRuns(lines);
  if (runs.length === 0) return readingOf(runner, "report", [], ["report-torn"]);
  const read = runs.map((run) => readRun(runner, run, names));
  const results = read.flatMap((run) => run.results);
  const faults = new Set(read.flatMap((run) => run.faults));
  const whole = !faults.has("report-torn") && !faults.has("report-too-large");
  const kept = whole ? results : results.filter(({ status }) => status === "fail" || status === "error");
  return readingOf(runner, "report", kept, [...faults]);
}

/** TAP inside a command's output: only from a version line, or for mocha from its plan, on. */
export function tapTally(runner: Runner, lines: readonly string[], names: TestNames): Tally {
  const tally = newTally();
  for (const run of tapRuns(lines)) {
    const { results, faults } = readRun(runner, run, names);
    const reading = readingOf(runner, "text", results, faults);
    const whole = faults.length === 0;
    addTally(tally, {
      runs: 1,
      passed: whole ? reading.passed : 0,
      failed: reading.failed,
      skipped: reading.skipped,
      results: [...reading.results],
      faults: new Set(faults.map((fault) => (fault === "report-torn" ? "interrupted" : fault))),
    });
  }
  return tally;
}

function tapRuns(lines: readonly string[]): readonly (readonly string[])[] {
  const starts = lines.flatMap((line, at) => (/^TAP version 1[2-4]\s*$/.test(line) ? [at] : []));
  if (starts.length > 0) return starts.map((start, at) => lines.slice(start, starts[at + 1]));
  // mocha's own TAP has no version line: a plan and a first test make it one.
  const hasPlan = lines.some((line) => /^1\.\.\d{1,9}\s*$/.test(line));
  const first = lines.findIndex((line) => /^(?:not )?ok \d{1,9} /.test(line));
  return hasPlan && first >= 0 ? [lines.slice(first)] : [];
}

interface Run {
  readonly results: readonly TestResult[];
  readonly faults: readonly TestFault[];
}

function readRun(runner: Runner, lines: readonly string[], names: TestNames): Run {
  const results: TestResult[] = [];
  const faults = new Set<TestFault>();
  let ended = false;

  const follow = (parser: Parser, path: readonly string[]) => {
    let badInside = false;
    parser.on("child", (child: Parser) => {
      const { name } = child;
      follow(child, typeof name === "string" && name !== "" ? [...path, name] : path);
      child.on("assert", ({ ok, todo, skip }) => {
        if (!ok && !todo && !skip) badInside = true;
      });
    });
    parser.on("assert", ({ ok, name, skip, todo, closingTestPoint }) => {
      if (results.length >= resultsMax) throw new Error("too many");
      const status: TestStatus = todo || skip ? "skip" : ok ? "pass" : "fail";
      if (closingTestPoint) {
        // The end of a group is no test; its own failure is one if none inside explains it.
        if (status === "fail" && !badInside) results.push({ id: names.id("", path, name), status: "error" });
        badInside = false;
        return;
      }
      if (path.length === 0 && wholeFileRunners.includes(runner) && isWholeFile(name)) {
        if (status === "fail") results.push({ id: names.id(name, [], names.file(name)), status: "error" });
        return;
      }
      results.push({ id: names.id("", path, name), status });
    });
    parser.on("bailout", () => faults.add("interrupted"));
  };

  try {
    const parser = new Parser();
    follow(parser, []);
    parser.on("complete", ({ plan, count }) => {
      ended = plan.end !== null || plan.skipAll;
      if (plan.end !== null && count > plan.end) faults.add("counts-disagree");
      if (plan.end !== null && plan.start !== null && count < plan.end - plan.start + 1) faults.add("report-torn");
    });
    for (const line of lines) {
      // Each level of nesting is a parser of its own: hostile depth is not followed.
      if (line.startsWith(deep)) faults.add("report-torn");
      else parser.write(`${line}\n`);
    }
    parser.end();
  } catch {
    faults.add(results.length >= resultsMax ? "report-too-large" : "report-torn");
  }
  if (!ended) faults.add("report-torn");
  return { results, faults: [...faults] };
}
