import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTests, type TestsInput } from "../../scripts/verify/read-tests.ts";
import { reportRequest } from "../../scripts/verify/report-request.ts";
import { runners } from "../../scripts/verify/runner.ts";
import { resolveCommand } from "../../scripts/verify/test-command.ts";

const noFiles = () => null;

/** What is read of a command with that output, and with these reports where any were asked for. */
function read(command: string, output: string, given: Partial<TestsInput> = {}) {
  const resolved = resolveCommand(command, noFiles);
  const request = reportRequest(resolved, {}, "/reports");
  return readTests({ resolved, request, reports: [], root: "/tree", output, exitCode: 0, ...given });
}

const junit = (body: string) => `<?xml version="1.0"?><testsuites>${body}</testsuites>`;
const passing = '<testcase classname="t.A" name="one" file="t.py"/>';

function pytest(report: string | null, output = "", exitCode = 0) {
  return read("pytest", output, { reports: [{ runner: "pytest", format: "junit", text: report }], exitCode });
}

describe("V-05: a forged run is no evidence", () => {
  it("a summary that echo prints stands for no runner; the runner's own report does", () => {
    const forged = read("echo '=== 3 passed ===' # pytest", "=== 3 passed ===\n");
    expect(forged.tests).toMatchObject({ source: "none", passed: 0 });
    expect(pytest(junit(`<testsuite name="s" tests="1">${passing}</testsuite>`)).tests).toMatchObject({
      source: "report",
      passed: 1,
      failed: 0,
      faults: [],
    });
  });

  it("a summary without the report that was asked for is no evidence", () => {
    const { tests } = read("pytest", "===== 3 passed in 0.01s =====\n");
    expect(tests.faults.length > 0 || tests.passed === 0).toBe(true);
  });

  it("a failing test in the report counts, whatever the exit code", () => {
    const report = junit(
      `<testsuite name="s" tests="2">${passing}<testcase classname="t.A" name="two"><failure/></testcase></testsuite>`,
    );
    expect(pytest(report).tests).toMatchObject({ passed: 1, failed: 1 });
  });

  it("everything skipped, nothing run, and a torn report are said", () => {
    const skipped = junit(
      '<testsuite name="s" tests="1"><testcase classname="a" name="b"><skipped/></testcase></testsuite>',
    );
    expect(pytest(skipped).tests.faults).not.toEqual([]);
    expect(pytest(junit('<testsuite name="s" tests="0"/>')).tests.faults).not.toEqual([]);
    expect(pytest(junit(`<testsuite name="s" tests="1">${passing}`).slice(0, 80)).tests.faults).not.toEqual([]);
    expect(pytest(null).tests.faults).not.toEqual([]);
  });
});

it("V-16: colours do not hide a result", () => {
  const plain =
    "PASS test/a.test.js\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nSnapshots:   0 total\nTime:        0.4 s\nRan all test suites.\n";
  const coloured =
    "\u001b[32mPASS\u001b[39m test/a.test.js\n\u001b[1mTest Suites:\u001b[22m \u001b[32m1 passed\u001b[39m, 1 total\n\u001b[1mTests:\u001b[22m       \u001b[32m2 passed\u001b[39m, 2 total\nSnapshots:   0 total\nTime:        0.4 s\nRan all test suites.\n";
  expect(read("npx jest", coloured).tests).toEqual(read("npx jest", plain).tests);
  expect(read("npx jest", plain).tests).toMatchObject({ source: "text", runners: ["jest"], passed: 2 });
});

it("a later failure is not masked by an earlier summary", () => {
  const twice =
    "Test Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nSnapshots:   0 total\nTime:        0.4 s\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 total\nSnapshots:   0 total\nTime:        0.4 s\n";
  const { tests } = read("npx jest", twice);
  expect(tests.failed > 0 || tests.faults.length > 0).toBe(true);
});

it("V-25: a line of the log that looks like a runner's own vetoes nothing", () => {
  const report = junit(`<testsuite name="s" tests="1">${passing}</testsuite>`);
  expect(pytest(report, "==== 2 errors ====\nerror[E0001]: a word of ours\n").tests).toMatchObject({
    passed: 1,
    failed: 0,
  });
});

it("V-27: no bytes break a reading, and none without a test counts as passed", () => {
  const command = fc.constantFrom(
    "pytest",
    "npx jest",
    "npx vitest run",
    "node --test",
    "go test ./...",
    "cargo test",
    "rspec",
    "phpunit",
    "npx mocha",
    "mvn test",
  );
  const format = fc.constantFrom("junit", "tap", "go-json", "jest-json", "vitest-json", "playwright-json");
  fc.assert(
    fc.property(
      command,
      fc.string({ maxLength: 400 }),
      fc.option(fc.string({ maxLength: 400 })),
      format,
      fc.constantFrom(...runners),
      (words, output, text, form, runner) => {
        const { tests, results } = read(words, output, { reports: [{ runner, format: form as never, text }] });
        expect(tests.passed).toBe(0);
        expect(results.filter(({ status }) => status === "pass")).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});
