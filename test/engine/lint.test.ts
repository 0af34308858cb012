/** Linters are advice: they see copies, write nothing that was judged, and cannot block whatever they say or do. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { snapshotsOf } from "../../scripts/engine/effects.ts";
import type { LensInput } from "../../scripts/engine/lens-input.ts";
import { advisoryLintOf, undefinedNamesOf } from "../../scripts/engine/lint.ts";
import type { ChangedFile } from "../../scripts/verify/changed-file.ts";
import type { LensAnswer } from "../../scripts/verify/lens.ts";
import { copiesOf, type FileCopy } from "../../scripts/verify/lenses/copies.ts";
import { newHints } from "../../scripts/verify/lenses/lint.ts";
import { verdict } from "../../scripts/verify/verdict.ts";
import { engineWorld } from "../support/engine-world.ts";
import { changed, fakeTool, lensInput } from "../support/fake-tools.ts";
import { context, good, ids, seats } from "../support/judgments.ts";
import { bearers } from "../support/performances.ts";

/** Says of each line with `undefined_x` that the name is undefined, of each unused import that it is unused. */
function ruff(more = "") {
  return fakeTool(
    "ruff",
    `const rules = args.join(" ").match(/^check --isolated --no-fix --no-cache --exit-zero --output-format json --(select|ignore) F821,F401,E9 -- /);
if (rules === null) say(2, "usage");
${more}
const out = [];
for (const name of args.slice(args.indexOf("--") + 1)) files[name].split("\\n").forEach((text, at) => {
  const add = (code, message) => out.push({ filename: process.cwd() + "/" + name, location: { row: at + 1, column: 1 }, code, message, fix: null });
  if (rules[1] === "select") {
    const bad = /(undefined_\\w+|\\b_(?=\\())/.exec(text);
    if (bad) add("F821", "Undefined name \`" + bad[1] + "\`");
    if (/^import unused/.test(text)) add("F401", "\`unused\` imported but unused");
  } else if (/==\\s*None/.test(text)) add("E711", "Comparison to \`None\`");
});
say(0, JSON.stringify(out));`,
  );
}

const names = (files: readonly ChangedFile[], bins: readonly string[]) =>
  undefinedNamesOf(lensInput(engineWorld(), files, bins));

test("undefined names: ruff is not installed, and that is said", () => {
  expect(names([changed("a.py", null, "x\n")], [])).toEqual({
    status: "skipped",
    reason: "ruff is not installed",
    defects: [],
  });
});

test("an undefined name on an added line is MEDIUM; an unused import too", () => {
  const answer = names([changed("a.py", "x = 1\n", "import unused\nx = undefined_y\n")], [ruff().bin]);
  expect(answer).toMatchObject({
    status: "ran",
    defects: [
      { id: "UND1", category: "CODE-QUALITY", severity: "MEDIUM", location: "a.py:1" },
      { id: "UND2", category: "CORRECTNESS", severity: "MEDIUM", location: "a.py:2" },
    ],
  });
});

test("a name is no finding where it stood before, is a host program's own, or is what a package offers", () => {
  const { bin } = ruff();
  const quiet = (file: ChangedFile) => expect(names([file], [bin])).toEqual({ status: "ran", defects: [] });
  quiet(changed("a.py", "x = undefined_y\n", "z = 1\nx = undefined_y\n"));
  quiet(changed("a.py", "x = undefined_y\n", "x = undefined_y\nw = 2 * undefined_y\n"));
  quiet(changed("a.py", null, 'x = _("text")\n'));
  quiet(changed("pkg/__init__.py", null, "import unused\n"));
});

test.each([
  ["is broken", 'say(2, "");'],
  ["prints no JSON", 'say(0, "All checks passed!");'],
  [
    "names a file that is no copy",
    'say(0, JSON.stringify([{ filename: "/etc/passwd", location: { row: 1 }, code: "F821", message: "" }]));',
  ],
])("undefined names are skipped, and said to be, where ruff %s", (_what, more) => {
  expect(names([changed("a.py", null, "x\n")], [ruff(more).bin])).toMatchObject({ status: "skipped", defects: [] });
});

interface LintWorld {
  readonly answer: LensAnswer;
  readonly input: LensInput;
  readonly trees: { readonly before: string; readonly after: string };
}

function lint(
  files: readonly ChangedFile[],
  bins: readonly string[],
  command?: string,
  environment: Record<string, string> = {},
): LintWorld {
  const world = engineWorld();
  const given = lensInput(world, files, bins, environment);
  const snapshots = snapshotsOf(given.engine, given.loaded);
  const before = snapshots.take(world.project).tree;
  const packet = command === undefined ? {} : { lint_cmd: command };
  const input = { ...given, packet, measured: { tree: { coded: before } } } as unknown as LensInput;
  const answer = advisoryLintOf(input);
  return { answer, input, trees: { before, after: snapshots.take(world.project).tree } };
}

function isAdvice({ status, defects }: LensAnswer): boolean {
  return (
    status !== "failed" && defects.every(({ category, severity }) => category === "CODE-QUALITY" && severity === "LOW")
  );
}

test("V-12: a linter's hint is LOW CODE-QUALITY on an added line, which neither blocks nor forces a pass", () => {
  const { answer } = lint([changed("a.py", "a == None\n", "a == None\nb == None\n")], [ruff().bin]);
  expect(answer).toMatchObject({ status: "ran", defects: [{ id: "LNT1", location: "a.py:2", severity: "LOW" }] });
  expect(isAdvice(answer)).toBe(true);
});

test("V-12: gofmt, which is really here, sees the copies only and writes none of the tree", () => {
  const bad = "package a\nfunc  F( ) { }\n";
  const world = engineWorld();
  writeFileSync(join(world.project, "a.go"), bad);
  const answer = advisoryLintOf(lensInput(world, [changed("a.go", null, bad)], []));
  expect(answer).toMatchObject({ status: "ran", defects: [{ id: "LNT1", location: "a.go" }] });
  expect(readFileSync(join(world.project, "a.go"), "utf8")).toBe(bad);
  const good = "package a\n\nfunc F() {}\n";
  expect(lint([changed("a.go", null, good)], []).answer).toEqual({ status: "ran", defects: [] });
  expect(lint([changed("a.go", bad, `${bad}// more\n`)], []).answer.defects).toEqual([]);
});

test("V-12: shellcheck reads no settings of the tree, and its comments count on added lines only", () => {
  const tool = fakeTool(
    "shellcheck",
    `if (args.slice(0, 4).join(" ") !== "--norc -f json1 --") say(3, "usage");
say(1, JSON.stringify({ comments: args.slice(4).flatMap((file) => files[file].split("\\n").flatMap((text, at) =>
  text.includes("$x") ? [{ file, line: at + 1, endLine: at + 1, level: "info", code: 2086, message: "Double quote" }] : [])) }));`,
  );
  const { answer } = lint([changed("run.sh", "ls $x\n", "ls $x\nrm $x\n")], [tool.bin]);
  expect(answer).toMatchObject({ status: "ran", defects: [{ id: "LNT1", location: "run.sh:2", severity: "LOW" }] });
});

test("V-12: the lint command rewrites its own copy and never the tree that was judged", () => {
  const { answer, trees, input } = lint([], [], "pwd; echo changed > a.txt; rm -rf .git*; echo new > new.txt");
  expect(answer).toEqual({ status: "ran", defects: [] });
  expect(trees.after).toBe(trees.before);
  expect(existsSync(join(input.loaded.folder.ledger, "scratch", "e1.lint"))).toBe(false);
});

test("V-12: a red lint command is one LOW hint, bounded, without control characters", () => {
  const { answer } = lint(
    [],
    [],
    `printf '\\033[2J%s\\n' a.txt; cat a.txt; head -c 100000 /dev/zero | tr '\\0' x; exit 9`,
  );
  expect(answer.status).toBe("ran");
  expect(answer.defects).toMatchObject([{ id: "LNT1", severity: "LOW", location: "lint_cmd" }]);
  expect(answer.defects[0]?.fix).toContain("exited with code 9");
  expect(answer.defects[0]?.fix.length).toBeLessThan(1000);
  expect(isAdvice(answer)).toBe(true);
});

test("V-12: a lint command without its program, too much output or a linter that breaks is said, never red", () => {
  const missing = lint([], [], "no-such-linter .").answer;
  expect(missing).toMatchObject({ status: "skipped", reason: expect.stringContaining("not there") });
  const loud = lint([], [], "yes").answer;
  expect(loud).toMatchObject({ status: "skipped", reason: expect.stringContaining("too-much") });
  const broken = fakeTool("ruff", 'say(0, "{");');
  const partly = lint([changed("a.py", null, "x\n")], [broken.bin], "true").answer;
  expect(partly).toEqual({ status: "ran", reason: "ruff did not look at all of it", defects: [] });
});

test("V-12: what a lint command leaves running is ended", () => {
  const mark = join(engineWorld().project, "env");
  lint(
    [],
    [],
    `setsid sh -c 'echo "$ATLAS_COMMAND_NONCE" > ${mark}; exec sleep 600' >/dev/null 2>&1 & while ! [ -s ${mark} ]; do sleep 0.05; done`,
  );
  const nonce = readFileSync(mark, "utf8").trim();
  expect(nonce).toMatch(/^atlas-[0-9a-f]{32}$/);
  expect(bearers(nonce)).toEqual([]);
});

test("V-33: a lint command is given no secret, and one it finds elsewhere is masked in what is kept", () => {
  const environment = { DEPLOY_TOKEN: "s3cr3t-Value-9" };
  const { answer } = lint([], [], `echo "[\${DEPLOY_TOKEN:-none}] s3cr3t-""Value-9"; exit 1`, environment);
  expect(answer.defects[0]?.fix).toContain("[none] ***");
  expect(lint([], [], 'echo "[s3cr3t-""Value-9]"; exit 1').answer.defects[0]?.fix).toContain("[s3cr3t-Value-9]");
});

const advice = (severity: "LOW" | "MEDIUM", category: "CODE-QUALITY" | "CORRECTNESS") => ({
  ...good,
  lenses: {
    ...good.lenses,
    "advisory-lint": {
      status: "ran" as const,
      ms: 1,
      defects: [{ id: "LNT1", category, severity, location: "src/a.ts:1", fix: "x" }],
    },
  },
});

test("V-12: the verdict takes a linter's hint for advice: the label stays, and no pass is forced", () => {
  const judged = verdict(advice("LOW", "CODE-QUALITY"), seats(), 0, context);
  expect(judged).toMatchObject({ label: "VERIFIED", refine: false, blocking: [] });
  expect(ids(judged.advisory)).toEqual(["LNT1"]);
  // The same hint as anything else would force one.
  expect(verdict(advice("MEDIUM", "CORRECTNESS"), seats(), 0, context).refine).toBe(true);
});

test("a hint that only now appears on a line the change left alone is not the change's", () => {
  const [before, after] = copiesOf([changed("a.py", "x = 1\ny = 2\n", "x = 1\ny = 3\n")]) as [FileCopy, FileCopy];
  const hint = (copy: FileCopy, line: number) => ({ copy, line, code: "E1", message: "m" });
  expect(newHints([hint(after, 1), hint(after, 2)])).toEqual([hint(after, 2)]);
  expect(newHints([hint(before, 2), hint(after, 2)])).toEqual([hint(after, 2)]);
});
