/** `go test -json`: one event a line. Lines that are none are what the build said. */
import type { TestFault, TestResult, TestStatus } from "../test-run.ts";
import type { TestNames } from "./test-id.ts";

const eventsMax = 2_000_000;
const depthMax = 32;
const statuses: Readonly<Record<string, TestStatus>> = { pass: "pass", fail: "fail", skip: "skip" };

interface GoEvent {
  readonly action: string;
  readonly package: string;
  readonly test: string;
}

export interface GoEvents {
  readonly events: number;
  readonly results: readonly TestResult[];
  readonly faults: readonly TestFault[];
}

export function readGoEvents(lines: readonly string[], names: TestNames): GoEvents {
  const status = new Map<string, TestStatus | "running">();
  const packages = new Map<string, string>();
  const faults = new Set<TestFault>();
  const unbuiltPackages: TestResult[] = [];
  let events = 0;
  for (const line of lines) {
    const unbuilt = /^FAIL\t(\S{1,400}) \[(?:build|setup) failed\]$/.exec(line)?.[1];
    if (unbuilt !== undefined) {
      faults.add("suite-failed");
      unbuiltPackages.push({ id: names.id(unbuilt, [], "(package)"), status: "error" });
    }
    const event = goEvent(line);
    if (event === null) continue;
    events += 1;
    if (events > eventsMax) {
      faults.add("report-too-large");
      break;
    }
    if (event.action === "build-fail") faults.add("suite-failed");
    if (event.test === "") {
      if (event.action === "start") packages.set(event.package, "started");
      if (statuses[event.action] !== undefined) packages.set(event.package, event.action);
      continue;
    }
    const key = `${event.package}\n${event.test}`;
    if (event.action === "run") {
      status.set(key, "running");
      if (!packages.has(event.package)) packages.set(event.package, "started");
    }
    const ended = statuses[event.action];
    if (ended !== undefined) status.set(key, ended);
  }
  const results = resultsOf(status, names);
  const badPackages = new Set<string>();
  for (const [key, one] of status) if (isBad(one)) badPackages.add(key.slice(0, key.indexOf("\n")));
  for (const [name, ended] of packages) {
    if (ended === "started") faults.add("interrupted");
    if (ended === "fail" && !badPackages.has(name)) {
      faults.add("suite-failed");
      results.push({ id: names.id(name, [], "(package)"), status: "error" });
    }
  }
  return { events, results: [...results, ...unbuiltPackages], faults: [...faults] };
}

/** A test with tests inside is their group: it counts only where it failed and none of them did. */
function resultsOf(status: ReadonlyMap<string, TestStatus | "running">, names: TestNames): TestResult[] {
  const groups = new Set<string>();
  const badGroups = new Set<string>();
  for (const [key, one] of status) {
    let at = key.indexOf("/", key.indexOf("\n"));
    for (let depth = 0; at >= 0 && depth < depthMax; depth += 1, at = key.indexOf("/", at + 1)) {
      const group = key.slice(0, at);
      groups.add(group);
      if (isBad(one)) badGroups.add(group);
    }
  }
  const results: TestResult[] = [];
  for (const [key, one] of status) {
    if (groups.has(key) && (badGroups.has(key) || !isBad(one))) continue;
    const at = key.indexOf("\n");
    results.push({
      id: names.id(key.slice(0, at), [], key.slice(at + 1)),
      status: one === "running" ? "error" : one,
    });
  }
  return results;
}

function isBad(status: TestStatus | "running"): boolean {
  return status === "fail" || status === "running";
}

function goEvent(line: string): GoEvent | null {
  if (!line.startsWith("{")) return null;
  try {
    const value = JSON.parse(line) as Readonly<Record<string, unknown>> | null;
    if (typeof value !== "object" || value === null || typeof value.Action !== "string") return null;
    const text = (field: unknown) => (typeof field === "string" ? field.slice(0, 400) : "");
    return { action: value.Action, package: text(value.Package), test: text(value.Test) };
  } catch {
    return null;
  }
}
