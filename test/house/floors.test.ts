import { describe, expect, test } from "vitest";
import { floorOf, forbiddenArrows, PURE_FLOORS } from "../support/floors.ts";
import { hasDefaultExport, importCycle, impureNames, readSources, sourceFile } from "../support/source-tree.ts";

const sources = readSources();
const linesMax = 300;

describe("the sources", () => {
  test("a file imports its own folder and lower floors only", () => {
    expect(sources.length).toBeGreaterThan(10);
    expect(sources.flatMap(forbiddenArrows)).toEqual([]);
  });

  test("a relative import names a file that is there", () => {
    const paths = new Set(sources.map(({ path }) => path));
    const missing = sources.flatMap(({ path, imports }) =>
      imports.filter((name) => name.startsWith("scripts/") && !paths.has(name)).map((name) => `${path} -> ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test("the pure floors name no clock, no randomness and no process", () => {
    const pure = sources.filter(({ path }) => PURE_FLOORS.includes(floorOf(path)));
    expect(pure.length).toBeGreaterThan(5);
    expect(pure.flatMap((file) => impureNames(file).map((name) => `${file.path} names ${name}`))).toEqual([]);
  });

  test("imports make no cycle", () => {
    expect(importCycle(sources)).toBeNull();
  });

  test(`no file is longer than ${linesMax} lines`, () => {
    const long = sources.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));
    expect(long.filter(({ lines }) => lines > linesMax)).toEqual([]);
  });

  test("every export is named, every file name is kebab-case", () => {
    expect(sources.filter(hasDefaultExport).map(({ path }) => path)).toEqual([]);
    const odd = sources.map(({ path }) => path).filter((path) => !/^[a-z0-9/-]+\.ts$/.test(path));
    expect(odd).toEqual([]);
  });
});

describe("the reader of the sources", () => {
  const arrows = (path: string, text: string) => forbiddenArrows(sourceFile(path, text));

  test.each([
    ["scripts/core/a.ts", 'import { b } from "../parts/b.ts";'],
    ["scripts/core/a.ts", 'import type { b } from "node:fs";'],
    ["scripts/parts/a.ts", 'import { b } from "../verify/b.ts";'],
    ["scripts/kinds/change/a.ts", 'import { b } from "../weave/b.ts";'],
    ["scripts/kinds/change/a.ts", 'import { b } from "../../platform/fs.ts";'],
    ["scripts/platform/a.ts", 'export { b } from "../engine/b.ts";'],
    ["scripts/engine/a.ts", 'const b = await import("../verbs/main.ts");'],
    ["scripts/hosts/claude.ts", 'import { b } from "./kimi.ts";'],
    ["scripts/verbs/start.ts", 'import { b } from "./resume.ts";'],
    ["scripts/verbs/start.ts", 'import { b } from "../../test/b.ts";'],
    ["scripts/engine/a.ts", 'import { b } from "./b";'],
    ["scripts/attic/a.ts", 'import { b } from "../core/b.ts";'],
  ])("%s may not say %s", (path, text) => {
    expect(arrows(path, text)).toHaveLength(1);
  });

  test.each([
    ["scripts/kinds/registry.ts", 'import { b } from "./weave/b.ts";'],
    ["scripts/kinds/change/a.ts", 'import { z } from "zod"; import { b } from "./b.ts";'],
    ["scripts/verbs/main.ts", 'import { b } from "./resume.ts";'],
    ["scripts/verbs/start.ts", 'import { b } from "./arguments.ts"; import { c } from "../engine/turn.ts";'],
    ["scripts/hosts/claude.ts", 'import { b } from "./policy.ts";'],
    ["scripts/atlas.ts", 'await import("./verbs/main.ts");'],
  ])("%s may say %s", (path, text) => {
    expect(arrows(path, text)).toEqual([]);
  });

  test.each([
    ["const t = Date.now();", "Date.now"],
    ["const t = new Date();", "new Date()"],
    ["const r = Math.random();", "Math.random"],
    ["const p = process.pid;", "process"],
    ["f(() => setTimeout(g, 1));", "setTimeout"],
  ])("sees the impure name in %s", (text, name) => {
    expect(impureNames(sourceFile("scripts/core/a.ts", text))).toContain(name);
  });

  test("a given moment, a property and a comment are no clock", () => {
    const text =
      "// Date.now() is elsewhere\nconst a = new Date(now); const b = owner.process; const c = { process: 1 };";
    expect(impureNames(sourceFile("scripts/core/a.ts", text))).toEqual([]);
  });

  test("finds a cycle through three files, type imports included", () => {
    const cycle = importCycle([
      sourceFile("scripts/core/a.ts", 'import { b } from "./b.ts";'),
      sourceFile("scripts/core/b.ts", 'import type { c } from "./c.ts";'),
      sourceFile("scripts/core/c.ts", 'import { a } from "./a.ts";'),
    ]);
    expect(cycle).toEqual(["scripts/core/a.ts", "scripts/core/b.ts", "scripts/core/c.ts", "scripts/core/a.ts"]);
  });

  test.each(["export default 1;", "export default function f() {}", "const a = 1; export { a as default };"])(
    "sees the default export in %s",
    (text) => {
      expect(hasDefaultExport(sourceFile("scripts/core/a.ts", text))).toBe(true);
    },
  );
});
