/** Machine reports asked for through the environment: the frozen command itself is never edited. */
import type { ReportFormat } from "./report-format.ts";
import type { Runner } from "./runner.ts";
import type { ResolvedCommand } from "./test-command.ts";

export type { ReportFormat } from "./report-format.ts";

export interface ReportRequest {
  /** Variables the command gets on top of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Reports asked for: names below the reports folder. One that is missing afterwards is no evidence. */
  readonly expected: readonly { readonly runner: Runner; readonly format: ReportFormat; readonly name: string }[];
  /** Reports the tool writes by itself: globs below the tree, believed if written after the command began. */
  readonly written: readonly { readonly runner: Runner; readonly format: ReportFormat; readonly glob: string }[];
}

interface Question {
  readonly runner: Runner;
  readonly variable: string;
  /** Null: its output itself becomes the report. */
  readonly file: { readonly format: ReportFormat; readonly name: string } | null;
  /** What is appended; null: the path cannot be said in this variable. */
  options(path: string): string | null;
  /** What is there already speaks of reporters: another one would break or replace it. */
  readonly taken: RegExp;
}

const questions: readonly Question[] = [
  {
    runner: "pytest",
    variable: "PYTEST_ADDOPTS",
    file: { format: "junit", name: "pytest.xml" },
    // pytest expands variables in the path, and there is no way to stop it.
    options: (path) => (/[$%~]/.test(path) ? null : `--junitxml=${shellQuoted(path)}`),
    taken: /junit/,
  },
  {
    runner: "node-test",
    variable: "NODE_OPTIONS",
    file: { format: "junit", name: "node-test.xml" },
    // Node takes one destination for each reporter, and without "spec" nothing would be printed.
    options: (path) =>
      [
        "--test-reporter=junit",
        `--test-reporter-destination=${nodeQuoted(path)}`,
        "--test-reporter=spec",
        "--test-reporter-destination=stdout",
      ].join(" "),
    taken: /--test-reporter/,
  },
  {
    runner: "rspec",
    variable: "SPEC_OPTS",
    file: { format: "rspec-json", name: "rspec.json" },
    options: (path) => `--format progress --format json --out ${shellQuoted(path)}`,
    taken: /(^|\s)(--format|-f|--out|-o)/,
  },
  { runner: "go", variable: "GOFLAGS", file: null, options: () => "-json", taken: /(^|\s)-?-json\b/ },
];

/**
 * `reportsFolder` is absolute and empty; `environment` is what the command has already: what is asked for stands behind
 * it. A runner that is begun twice would write over its own report and is not asked, nor is one with reporters of its own.
 */
export function reportRequest(
  resolved: ResolvedCommand,
  environment: Readonly<Record<string, string>>,
  reportsFolder: string,
): ReportRequest {
  const added: Record<string, string> = {};
  const expected: ReportRequest["expected"][number][] = [];
  for (const { runner, variable, file, options, taken } of questions) {
    if (!isAskable(resolved, runner)) continue;
    const before = environment[variable] ?? environment[`ATLAS_${variable}`] ?? "";
    const path = file === null ? "" : `${reportsFolder.replace(/[/\\]$/, "")}/${file.name}`;
    const asked = /[\0\n\r]/.test(path) || taken.test(before) ? null : options(path);
    if (asked === null) continue;
    added[variable] = before.trim() === "" ? asked : `${before} ${asked}`;
    if (file !== null) expected.push({ runner, ...file });
  }
  const written = (resolved.begun ?? []).flatMap(({ runner, own }) => own.files.map((file) => ({ runner, ...file })));
  const once = new Map(written.map((one) => [JSON.stringify([one.runner, one.format, one.glob]), one]));
  return { environment: added, expected, written: [...once.values()] };
}

function isAskable({ runners, begun, isAlone }: ResolvedCommand, runner: Runner): boolean {
  // It would turn a failing `go vet` into exit 0, so nothing but the test may see it.
  if (runner === "go") return isAlone === true && begun?.[0]?.runner === "go" && begun[0].own.isAskable;
  if (begun === undefined) return runners.includes(runner);
  const own = begun.filter((one) => one.runner === runner);
  return own.length === 1 && own[0]?.own.isAskable === true;
}

/** One word for a reader of shell words: pytest and RSpec read their variables so. */
function shellQuoted(text: string): string {
  return /^[\w./:@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Node ends a word at a space outside double quotes, and knows the backslash inside them alone. */
function nodeQuoted(text: string): string {
  return /[\s"\\]/.test(text) ? `"${text.replace(/["\\]/g, "\\$&")}"` : text;
}
