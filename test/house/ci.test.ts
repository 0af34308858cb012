import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryRoot } from "../support/run-cli.ts";
import { tempFolder } from "../support/temp.ts";

interface Part {
  readonly report?: object;
  readonly code?: number;
}

interface Parts {
  readonly ci?: number;
  readonly test?: Part;
  readonly build?: number;
  readonly buildChanges?: boolean;
  readonly hosts?: Part;
}

const report = (passed: number, failed: number, more: object = {}) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [],
  ...more,
});

/** Runs a copy of the script where `npm` and the tools it wants are stand-ins that end as `parts` says. */
function runCi(parts: Parts) {
  const folder = tempFolder("atlas ci ");
  cpSync(join(repositoryRoot, ".ci"), join(folder, ".ci"), { recursive: true });
  for (const name of ["dist", ".claude-plugin", ".kimi-plugin", "hooks", "stand-ins"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "dist", "atlas.cjs"), "1");
  const scripts = parts.hosts === undefined ? {} : { "test:hosts": "vitest" };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts }));
  for (const tool of "git strace ps setsid make pytest go cargo rspec phpunit".split(" "))
    program(folder, tool, "#!/bin/sh\n");
  writeFileSync(join(folder, "test.json"), JSON.stringify(parts.test?.report ?? null));
  writeFileSync(join(folder, "hosts.json"), JSON.stringify(parts.hosts?.report ?? null));
  program(
    folder,
    "npm",
    `#!/bin/sh
for word; do case "$word" in --outputFile.json=*) output="\${word#*=}";; esac; done
case "$*" in
  ci*) exit ${parts.ci ?? 0};;
  test*) ${parts.test?.report === undefined ? "" : 'cp test.json "$output";'} exit ${parts.test?.code ?? 0};;
  *build*) ${parts.buildChanges === true ? "echo 2 > dist/atlas.cjs;" : ""} exit ${parts.build ?? 0};;
  *test:hosts*) ${parts.hosts?.report === undefined ? "" : 'cp hosts.json "$output";'} exit ${parts.hosts?.code ?? 0};;
esac
exit 99
`,
  );
  const child = spawnSync("bash", [".ci/run"], {
    cwd: folder,
    env: { ...process.env, PATH: `${join(folder, "stand-ins")}:${process.env.PATH}` },
    timeout: 20_000,
  });
  return { code: child.status, last: child.stdout.toString().trimEnd().split("\n").at(-1) };
}

function program(folder: string, name: string, text: string): void {
  writeFileSync(join(folder, "stand-ins", name), text);
  chmodSync(join(folder, "stand-ins", name), 0o755);
}

const good = { report: report(10, 0) };

describe(".ci/run", () => {
  test("sums both suites and its own three checks, and ends with one plain line", () => {
    expect(runCi({ test: good })).toEqual({ code: 0, last: "13 passed, 0 failed" });
    expect(runCi({ test: good, hosts: { report: report(4, 0) } })).toEqual({ code: 0, last: "17 passed, 0 failed" });
  });

  test.each<[string, Parts, string]>([
    ["npm ci", { test: good, ci: 1 }, "12 passed, 1 failed"],
    ["a test", { test: { report: report(9, 1), code: 1 } }, "12 passed, 1 failed"],
    ["types or lint, before any test", { test: { code: 2 } }, "3 passed, 1 failed"],
    ["an error outside every test", { test: { report: report(10, 0), code: 1 } }, "13 passed, 1 failed"],
    [
      "a test file that cannot be loaded",
      { test: { report: report(9, 0, { testResults: [{ status: "failed", assertionResults: [] }] }), code: 1 } },
      "12 passed, 1 failed",
    ],
    ["a skipped test", { test: { report: report(9, 0, { numPendingTests: 1 }) } }, "12 passed, 1 failed"],
    ["a suite that ran nothing", { test: { report: report(0, 0) } }, "3 passed, 1 failed"],
    ["the build", { test: good, build: 1 }, "12 passed, 1 failed"],
    ["a build that was not committed", { test: good, buildChanges: true }, "12 passed, 1 failed"],
    ["the host suite", { test: good, hosts: { report: report(3, 1), code: 1 } }, "16 passed, 1 failed"],
  ])("fails with %s", (_what, parts, last) => {
    expect(runCi(parts)).toEqual({ code: 1, last });
  });
});
