/** Test evidence from a runner's reports, by their formats. */
import type { FoundReport } from "../found-report.ts";
import type { Runner } from "../runner.ts";
import { readingOf, type TestFault, type TestReading } from "../test-run.ts";
import { readGoEvents } from "./go-json.ts";
import { readJestJson } from "./jest-json.ts";
import { readJunit } from "./junit.ts";
import { readPlaywrightJson } from "./playwright-json.ts";
import { readRspecJson } from "./rspec-json.ts";
import { readTap } from "./tap.ts";
import type { TestNames } from "./test-id.ts";

/** All reports of one runner as one reading. One that cannot be read is a fault of the whole. */
export function readReports(runner: Runner, found: readonly FoundReport[], names: TestNames): TestReading {
  const readings = found.map((report) => readReport(runner, report, names));
  const results = readings.flatMap((reading) => reading.results);
  const faults = new Set(readings.flatMap((reading) => reading.faults));
  return readingOf(runner, "report", results, [...faults]);
}

function readReport(runner: Runner, { format, text }: FoundReport, names: TestNames): TestReading {
  if (text === null) return readingOf(runner, "report", [], ["report-torn"]);
  switch (format) {
    case "junit":
      return readJunit(runner, text, names);
    case "tap":
      return readTap(runner, text, names);
    case "go-json":
      return readGoJson(text, names);
    case "jest-json":
    case "vitest-json":
      return readJestJson(runner, text, names);
    case "playwright-json":
      return readPlaywrightJson(text, names);
    case "rspec-json":
      return readRspecJson(text, names);
  }
}

function readGoJson(text: string, names: TestNames): TestReading {
  const { events, results, faults } = readGoEvents(text.split(/\r\n|\n/), names);
  const torn: readonly TestFault[] = events === 0 && faults.length === 0 ? ["report-torn"] : [];
  return readingOf("go", "report", results, [...faults, ...torn]);
}
