/** No scanner can be installed here: a stand-in checks the arguments it is documented to take, and reports are recorded. */
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { sastOf } from "../../scripts/engine/sast.ts";
import type { ChangedFile } from "../../scripts/verify/changed-file.ts";
import { engineWorld } from "../support/engine-world.ts";
import { changed, fakeTool, lensInput } from "../support/fake-tools.ts";
import { bearers } from "../support/performances.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { tempFolder } from "../support/temp.ts";

const shell = 'subprocess.run("ls " + name, shell=True)';
const rulesFolder = join(repositoryRoot, "references", "sast");

/** Finds each `shell=True` in what it is given, as the scanner would; `more` runs first. */
function scanner(more = "", name = "semgrep") {
  return fakeTool(
    name,
    `const config = args.indexOf("--config");
const known = new Set(["--metrics=off", "--disable-version-check", "--disable-nosem", "--no-git-ignore", "--max-target-bytes=2000000", "--json"]);
const rest = args.slice(config + 2);
if (args[0] !== "scan" || config < 0 || args.slice(1, config).some((word) => !known.has(word))) say(2, "usage");
if (!args.includes("--disable-nosem") || !args.includes("--metrics=off")) say(2, "unsafe");
${more}
const results = [], scanned = [];
for (const [file, text] of Object.entries(files)) {
  if (!rest.some((side) => file.startsWith(side + "/"))) continue;
  scanned.push(file);
  text.split("\\n").forEach((line, at) => { if (line.includes("shell=True")) results.push({
    check_id: "references.sast.python-shell-command", path: file, start: { line: at + 1, col: 1 }, end: { line: at + 1, col: 9 },
    extra: { message: "hostile \\u001b[2J words", severity: "ERROR", lines: "requires login" } }); });
}
say(0, JSON.stringify({ version: "1.99.0", results, errors: [], paths: { scanned } }));`,
  );
}

function look(
  files: readonly ChangedFile[],
  bins: readonly string[],
  environment?: Record<string, string>,
  limits?: Parameters<typeof sastOf>[1],
) {
  const world = engineWorld();
  return sastOf(lensInput(world, files, bins, environment), limits);
}

test("V-10: a scanner that is not installed is said to be absent, never 'found nothing'", () => {
  expect(look([changed("a.py", null, shell)], [])).toEqual({
    status: "skipped",
    reason: "no scanner installed",
    defects: [],
  });
});

test("V-10: an installed scanner that finds nothing ran, and that cannot be taken for 'did not run'", () => {
  const tool = scanner();
  expect(look([changed("a.py", "x = 1\n", "x = 2\n")], [tool.bin])).toEqual({ status: "ran", defects: [] });
  expect(tool.calls()).toHaveLength(1);
});

test("V-10: the scanner fires: a new finding of an ERROR rule is HIGH SECURITY, in our words, at the path of the tree", () => {
  for (const name of ["semgrep", "opengrep"]) {
    const answer = look([changed("src/a b.py", "x = 1\n", `x = 1\n${shell}  # nosemgrep\n`)], [scanner("", name).bin]);
    expect(answer.status).toBe("ran");
    expect(answer.defects).toMatchObject([
      { id: "SAST1", category: "SECURITY", severity: "HIGH", location: "src/a b.py:2" },
    ]);
    expect(answer.defects[0]?.fix).not.toContain("hostile");
  }
});

test("V-10: the tree steers no scanner: own rules, copies outside the tree, names and environment of our making", () => {
  const tool = scanner();
  const hostile = changed("-e/../--config=x.py", null, "x = 1\n");
  look([hostile, changed("src/a.py", null, "x = 1\n")], [tool.bin], {
    SEMGREP_RULES: "auto",
    MY_TOKEN: "hidden-value",
    PYTHONPATH: ".",
  });
  const [call] = tool.calls();
  expect(call?.args).toEqual([
    ..."scan --metrics=off --disable-version-check --disable-nosem --no-git-ignore --max-target-bytes=2000000 --json --config".split(
      " ",
    ),
    rulesFolder,
    "after",
  ]);
  expect(Object.keys(call?.files ?? {})).toEqual([".semgrepignore", "after/0/file.py", "after/1/a.py"]);
  expect(call?.files[".semgrepignore"]).toBe("");
  const names = Object.keys(call?.env ?? {});
  for (const name of ["SEMGREP_RULES", "MY_TOKEN", "PYTHONPATH"]) expect(names).not.toContain(name);
  expect(call?.cwd).not.toContain("project");
  expect(existsSync(call?.cwd ?? "/")).toBe(false);
});

test("V-10: a scanner that lies in the tree is none", () => {
  const world = engineWorld();
  const inside = join(world.project, "bin");
  mkdirSync(inside);
  const marker = join(world.project, "ran");
  writeFileSync(join(inside, "semgrep"), `#!/bin/sh\n: > ${marker}\n`, { mode: 0o755 });
  expect(sastOf(lensInput(world, [changed("a.py", null, shell)], [inside]))).toMatchObject({ status: "skipped" });
  expect(existsSync(marker)).toBe(false);
});

test("V-10: a scanner that a link on PATH finds in the tree is none either", () => {
  const world = engineWorld();
  const marker = join(world.project, "ran");
  writeFileSync(join(world.project, "semgrep"), `#!/bin/sh\n: > ${marker}\n`, { mode: 0o755 });
  const bin = tempFolder();
  symlinkSync(join(world.project, "semgrep"), join(bin, "semgrep"));
  expect(sastOf(lensInput(world, [changed("a.py", null, shell)], [bin]))).toMatchObject({ status: "skipped" });
  expect(existsSync(marker)).toBe(false);
});

test("V-10: a scanner the change blinds is failed; one that fails on the files before it too does not work here", () => {
  const files = [changed("a.py", "x = 1\n", "boom\n")];
  const blinded = scanner('if (Object.values(files).some((text) => text.includes("boom"))) say(2, "");');
  expect(look(files, [blinded.bin])).toMatchObject({ status: "failed", defects: [] });
  const broken = scanner('say(2, "");');
  expect(look(files, [broken.bin])).toMatchObject({
    status: "skipped",
    reason: expect.stringContaining("does not work here"),
  });
  // A new file has nothing before it: the scanner is tried on a text of ours.
  expect(look([changed("a.py", null, "boom\n")], [blinded.bin])).toMatchObject({ status: "failed" });
});

test("V-10: a scanner that the change keeps busy for ever is ended, with what it started, and is failed", () => {
  const stall = `if (Object.values(files).some((text) => text.includes("boom"))) {
  require("node:child_process").spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).unref();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}`;
  const tool = scanner(stall);
  expect(look([changed("a.py", "x = 1\n", "boom\n")], [tool.bin], {}, { scanMs: 5000, probeMs: 60_000 })).toMatchObject(
    { status: "failed" },
  );
  expect(tool.calls().length).toBeGreaterThan(0);
  for (const { env } of tool.calls()) expect(bearers(env.ATLAS_COMMAND_NONCE ?? "")).toEqual([]);
});

const report = (result: object, more: object = {}) =>
  `say(0, JSON.stringify({ results: [${JSON.stringify(result)}], errors: [], paths: { scanned: Object.keys(files) }, ...${JSON.stringify(more)} }));`;
const finding = { check_id: "python-eval", path: "after/0/a.py", start: { line: 1 } };

test.each([
  ["no JSON", 'say(0, "[[[[");'],
  ["a bare list", 'say(0, "[]");'],
  ["deep nesting", 'say(0, "[".repeat(200000));'],
  ["more than is read", 'say(0, " ".repeat(17 * 1024 * 1024));'],
  ["a rule that is not ours", report({ ...finding, check_id: "x.not-ours" })],
  ["a path that is no copy", report({ ...finding, path: "/etc/passwd" })],
  ["a line that is none", report({ ...finding, start: { line: -1 } })],
  ["a line of another form", report({ ...finding, start: { line: "1" } })],
  ["__proto__ as a rule", report({ ...finding, check_id: "__proto__" })],
  ["no list of what was scanned", report(finding, { paths: {} })],
])("V-10: a report with %s is no report", (_what, body) => {
  const tool = fakeTool("semgrep", body);
  const answer = look([changed("a.py", "x = 0\n", "x = 1\n")], [tool.bin]);
  expect(answer).toMatchObject({ status: "skipped", defects: [] });
});

test("V-10: what the scanner left out or could not read is said beside what it found", () => {
  const left = fakeTool(
    "semgrep",
    'say(0, JSON.stringify({ results: [], errors: [{ path: "after/0/a.py", type: "Timeout" }], paths: { scanned: ["after/0/a.py"] } }));',
  );
  const answer = look([changed("a.py", null, "x = 1\n"), changed("b.py", null, "x = 1\n")], [left.bin]);
  expect(answer).toMatchObject({
    status: "ran",
    reason: "1 file: the scanner could not read all of it; 1 file: the scanner left it out",
  });
});

test("V-23: what stood before the change is nobody's new finding, moved or reindented", () => {
  const { bin } = scanner();
  const old = `def f(name):\n    ${shell}\n`;
  expect(look([changed("a.py", old, `import os\n\n${old}`)], [bin]).defects).toEqual([]);
  expect(look([changed("a.py", old, `if x:\n        ${shell}\n`)], [bin]).defects).toEqual([]);
  expect(look([changed("a.py", old, null), changed("b.py", null, old)], [bin]).defects).toEqual([]);
});

test("V-23: the same line once more, or in another file, is new", () => {
  const { bin } = scanner();
  const twice = look([changed("a.py", `${shell}\n`, `${shell}\n${shell}\n`)], [bin]);
  expect(twice.defects).toHaveLength(1);
  const elsewhere = look(
    [changed("a.py", `${shell}\n`, `x = 1\n${shell}\n`), changed("b.py", "x = 1\n", `${shell}\n`)],
    [bin],
  );
  expect(elsewhere.defects.map(({ location }) => location)).toEqual(["b.py:1"]);
});

test("many findings are cut at twenty, and those that block come first", () => {
  const { bin } = scanner();
  const answer = look([changed("a.py", null, `${shell}\n`.repeat(30))], [bin]);
  expect(answer.defects).toHaveLength(21);
  expect(answer.defects.at(-1)?.fix).toBe("10 more findings of the scanner.");
});

test("a finding that blocks is not cut off behind many that do not", () => {
  const weak = Array.from({ length: 25 }, () => ({
    check_id: "a.python-pickle",
    path: "after/0/a.py",
    start: { line: 1 },
  }));
  const results = [...weak, { ...finding, check_id: "a.python-eval" }];
  const body = `say(0, JSON.stringify({ results: ${JSON.stringify(results)}, errors: [], paths: { scanned: ["after/0/a.py"] } }));`;
  const { defects } = look([changed("a.py", null, "x = 1\n")], [fakeTool("semgrep", body).bin]);
  expect(defects[0]).toMatchObject({ severity: "HIGH", fix: expect.stringContaining("(python-eval)") });
  expect(defects.slice(1).every(({ severity }) => severity === "MEDIUM")).toBe(true);
});

test("our rules are at most twenty, each with an id of its own, a severity the scanner knows and our words", () => {
  const rules = readdirSync(rulesFolder).flatMap((name) => parse(readFileSync(join(rulesFolder, name), "utf8")).rules);
  expect(rules.length).toBeLessThanOrEqual(20);
  expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
  for (const rule of rules) {
    expect(["ERROR", "WARNING", "INFO"]).toContain(rule.severity);
    expect(rule.message.length).toBeGreaterThan(20);
    expect(rule.languages.length).toBeGreaterThan(0);
    expect(["pattern", "patterns", "pattern-either", "pattern-regex"].filter((key) => key in rule)).toHaveLength(1);
  }
});
