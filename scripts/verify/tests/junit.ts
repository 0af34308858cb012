/**
 * JUnit XML of any dialect, read as a stream. No document type and no entity is taken; depth, cases and names are
 * bounded; a report that is cut off or is no JUnit keeps its failures and loses its passes.
 */
import { SaxesParser } from "saxes";
import type { Runner } from "../runner.ts";
import { readingOf, type TestFault, type TestReading, type TestResult, type TestStatus } from "../test-run.ts";
import { type OpenSuite, openSuite, saysMore, suiteNames } from "./junit-suite.ts";
import { isAbsolute, type TestNames } from "./test-id.ts";

const casesMax = 200_000;
const depthMax = 128;
const sliceLength = 64 * 1024;

class Stop extends Error {
  readonly fault: TestFault;
  constructor(fault: TestFault) {
    super(fault);
    this.fault = fault;
  }
}

interface OpenCase {
  readonly attributes: Readonly<Record<string, string>>;
  failure: boolean;
  error: boolean;
  skipped: boolean;
  todo: boolean;
}

export function readJunit(runner: Runner, text: string, names: TestNames): TestReading {
  const results: TestResult[] = [];
  const faults = new Set<TestFault>();
  const suites: OpenSuite[] = [];
  let open: OpenCase | null = null;
  let depth = 0;
  let sawRoot = false;

  const parser = new SaxesParser({ xmlns: false });
  parser.on("error", () => {
    throw new Stop("report-torn");
  });
  parser.on("doctype", () => {
    throw new Stop("report-torn");
  });
  parser.on("opentag", ({ name, attributes }) => {
    depth += 1;
    if (depth > depthMax) throw new Stop("report-too-large");
    if (!sawRoot && name !== "testsuites" && name !== "testsuite") throw new Stop("report-torn");
    sawRoot = true;
    if (name === "testsuites" || name === "testsuite") {
      const parent = suites.at(-1);
      if (parent !== undefined && name === "testsuite") parent.children += 1;
      suites.push(openSuite(attributes, name === "testsuites"));
    } else if (name === "testcase") {
      const skipped = attributes.status === "notrun" || attributes.status === "disabled";
      open = { attributes, failure: false, error: false, skipped, todo: false };
    } else if (open !== null) markCase(open, name, attributes);
    else if (name === "error" && suites.length > 0) faults.add("suite-failed");
  });
  parser.on("closetag", ({ name }) => {
    depth -= 1;
    if (name === "testcase" && open !== null) {
      for (const suite of suites) {
        suite.cases += 1;
        if (open.failure || open.error) suite.bad += 1;
      }
      if (results.length >= casesMax) throw new Stop("report-too-large");
      const result = resultOf(runner, open, suites, names);
      if (result !== null) results.push(result);
      open = null;
    }
    if (name === "testsuites" || name === "testsuite") {
      const closed = suites.pop();
      if (closed !== undefined && saysMore(closed)) faults.add("counts-disagree");
      const parent = suites.at(-1);
      if (closed !== undefined && parent !== undefined) parent.nested += closed.children;
    }
  });

  try {
    const lenient = withoutForbidden(text);
    for (let at = 0; at < lenient.length; at += sliceLength) parser.write(lenient.slice(at, at + sliceLength));
    parser.close();
    if (!sawRoot) faults.add("report-torn");
  } catch (problem) {
    faults.add(problem instanceof Stop ? problem.fault : "report-torn");
  }
  const whole = !faults.has("report-torn") && !faults.has("report-too-large");
  const kept = whole ? results : results.filter(({ status }) => status === "fail" || status === "error");
  return readingOf(runner, "report", kept, [...faults]);
}

function markCase(open: OpenCase, tag: string, attributes: Readonly<Record<string, string>>): void {
  if (tag === "failure") open.failure = true;
  if (tag === "error") open.error = true;
  if (tag === "skipped") {
    open.skipped = true;
    if (attributes.type === "todo") open.todo = true;
  }
}

/** Null for what is no test: a whole file that node:test lists as one, because it holds none. */
function resultOf(runner: Runner, open: OpenCase, suites: readonly OpenSuite[], names: TestNames): TestResult | null {
  const { attributes } = open;
  const name = attributes.name ?? "";
  const classname = attributes.classname ?? "";
  const wholeFile = runner === "node-test" && isWholeFile(name);
  const status = wholeFile && open.failure ? "error" : statusOf(open);
  if (wholeFile && status === "pass") return null;
  const fileOfSuite = suites.findLast(({ file }) => file !== "")?.file ?? "";
  const file = attributes.file ?? attributes.filepath ?? fileOfSuite;
  // node:test calls every class `test`; elsewhere the class is the better name.
  const named = classname !== "" && !(runner === "node-test" && classname === "test");
  const project = runner === "playwright" ? [suites.at(-1)?.hostname ?? ""] : [];
  const inSuites = named ? [classname] : suiteNames(suites, file);
  return { id: names.id(file, [...project, ...inSuites], wholeFile ? names.file(name) : name), status };
}

function statusOf({ failure, error, skipped, todo }: OpenCase): TestStatus {
  if (todo) return "skip";
  if (error) return "error";
  if (failure) return "fail";
  return skipped ? "skip" : "pass";
}

/** node:test names a file that could not be loaded, or holds no test, by its path: whole, or below the folder. */
export function isWholeFile(name: string): boolean {
  if (name.length > 1000 || !/\.[cm]?[jt]sx?$/.test(name)) return false;
  if (isAbsolute(name)) return true;
  return /^[\w@.+/\\-]+$/.test(name) && (/[\\/]/.test(name) || /(?:^|[._-])(?:test|spec)[._-]/.test(name));
}

/** Tools write colours and other characters that XML forbids into their messages; they are no reason to see nothing. */
function withoutForbidden(text: string): string {
  return text
    .replace(/^\ufeff/, "")
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    .replace(/&#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}));/g, (whole, hex: string | undefined, decimal: string | undefined) => {
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      const allowed =
        code === 9 || code === 10 || code === 13 || (code >= 32 && code < 0xd800) || (code > 0xdfff && code < 0xfffe);
      return allowed || (code > 0xffff && code < 0x110000) ? whole : "\ufffd";
    });
}
