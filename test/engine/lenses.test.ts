/** The table of lenses over real snapshots: trees before the coder, after it, and after the build. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { snapshotsOf } from "../../scripts/engine/effects.ts";
import { type Loaded, loadRun } from "../../scripts/engine/ledger.ts";
import { lensesOf } from "../../scripts/engine/lenses.ts";
import { packetDoor } from "../../scripts/kinds/change/door-packet.ts";
import type { ChangeState } from "../../scripts/kinds/change/state.ts";
import { type LensName, lensNames } from "../../scripts/verify/lens.ts";
import { type EngineWorld, engineWorld, writeRun } from "../support/engine-world.ts";
import { good } from "../support/judgments.ts";

type Files = Readonly<Record<string, string>>;

function put(world: EngineWorld, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(world.project, name)), { recursive: true });
    writeFileSync(join(world.project, name), text);
  }
}

function look(stages: { readonly before: Files; readonly coded: Files; readonly built?: Files }) {
  const world = engineWorld();
  const folder = writeRun(world);
  const read = loadRun(world.engine.fs, folder);
  if (!read.ok) throw new Error("no run");
  const loaded = read.loaded as unknown as Loaded<ChangeState>;
  const standing: Loaded<ChangeState> = { ...loaded, state: { ...loaded.state, isolated: false } };
  const take = (files: Files) => {
    put(world, files);
    return snapshotsOf(world.engine, standing).take(world.project).tree;
  };
  const tree = { before: take(stages.before), coded: take(stages.coded), built: take(stages.built ?? {}) };
  const checked = packetDoor({ intent: "i", success_criteria: ["clamps"] }, { memoryBytes: 2 ** 30, recovered: false });
  if (!checked.ok) throw new Error("no packet");
  const { lenses: _, ...measured } = { ...good, tree };
  const lenses = lensesOf(world.engine, standing, { ...measured, packet: checked.value.packet, root: world.project });
  return (name: LensName) => lenses[name];
}

describe("the lenses of a pass", () => {
  test("each of the fixed names answers, with its time", () => {
    const lens = look({
      before: { "src/a.js": "1;\n" },
      coded: { "src/a.js": "clamp(1);\n", "test/a.test.js": "1;\n" },
    });
    for (const name of lensNames) expect(lens(name), name).toMatchObject({ ms: expect.any(Number) });
    for (const name of ["syntax", "debug-tokens", "tests-changed", "criteria-overlap", "build-rewrote"] as const) {
      expect(lens(name), name).toMatchObject({ status: "ran", defects: [] });
    }
    expect(lens("path-grounding")).toMatchObject({ status: "skipped", reason: "no added prose names a path" });
    expect(lens("environment")).toMatchObject({ status: "skipped", reason: "the user's own tree" });
  });

  test("V-07, V-13, V-18: what is wrong in the change is found in its bytes, and what was wrong before is not", () => {
    const old = { "old.js": "console.log(1)\n", "bad.js": "(\n" };
    const lens = look({
      before: old,
      coded: {
        "old.js": "console.log(1)\n2;\n",
        "bad.js": "((\n",
        "test/b.test.ts": "it(",
        "a.md": "`src/no.ts`\n",
        "p.py": "def f(:\n",
      },
    });
    const places = (name: LensName) => lens(name)?.defects.map(({ location }) => location);
    expect(places("syntax")).toEqual(["p.py:1", "test/b.test.ts:1"]);
    expect(places("debug-tokens")).toEqual([]);
    expect(places("path-grounding")).toEqual(["a.md:1"]);
    expect(places("criteria-overlap")).toEqual(["criterion 1"]);
  });

  test("V-12: a build that rewrites a changed source is a HIGH defect; one that writes beside it is none", () => {
    const change = { before: { "src/a.js": "1;\n", "src/b.js": "1;\n" }, coded: { "src/a.js": "2;\n" } };
    const rewrote = look({ ...change, built: { "src/a.js": "2\n" } });
    expect(rewrote("build-rewrote")?.defects).toEqual([
      expect.objectContaining({ id: 'build-rewrote:"src/a.js"', severity: "HIGH" }),
    ]);
    const beside = look({ ...change, built: { "src/b.js": "3;\n", "out/report.xml": "<a/>" } });
    expect(beside("build-rewrote")).toMatchObject({ status: "ran", defects: [] });
  });

  test("V-09: an added line that reads like a patch is no path, and odd names are looked at like any other", () => {
    const odd = "d $x/ü\n- --flag.js";
    const lens = look({
      before: {
        ".git/config": "[core]\n\trepositoryformatversion = 0\n[diff]\n\tmnemonicPrefix = true\n\tnoprefix = true\n",
      },
      coded: { "a.txt": "++ b/evil.js\n+++ b/evil.js\n(\n", [odd]: "(\n", "-a.js": "(\n", "b.js": "1;\n" },
    });
    expect(lens("syntax")?.defects.map(({ location }) => location)).toEqual(["-a.js:2", `${odd}:2`]);
  });

  test("V-20: a grammar newer than the python at hand is no defect, where the line or the project says so", () => {
    const asks = { "pyproject.toml": '[project]\nname = "a"\nrequires-python = ">=3.99"\n' };
    const newer = { "a.py": "type A[T] = list[T]\n", "b.py": 'x = f"{a["b"]}"\n' };
    expect(look({ before: { a: "" }, coded: newer })("syntax")?.defects).toEqual([]);
    const declared = look({ before: asks, coded: { "a.py": "def f(:\n" } })("syntax");
    expect(declared).toMatchObject({ defects: [], reason: "1 file: it may need a newer python than is installed" });
    expect(look({ before: { a: "" }, coded: { "a.py": "def f(:\n" } })("syntax")?.defects).toHaveLength(1);
  });
});
