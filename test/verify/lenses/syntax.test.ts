import { describe, expect, it } from "vitest";
import type { ChangedFile } from "../../../scripts/verify/changed-file.ts";
import { isTemplate, languageOf, type OwnLanguage } from "../../../scripts/verify/lenses/language.ts";
import { unread } from "../../../scripts/verify/lenses/parsed.ts";
import { parseOwn } from "../../../scripts/verify/lenses/parsers.ts";
import { type ParseText, syntaxLens } from "../../../scripts/verify/lenses/syntax.ts";
import { changed, cut } from "../../support/changed.ts";

const natives = new Set(["python", "ruby", "php", "go", "shell"]);
const parse: ParseText = (language, path, text) =>
  natives.has(language) ? unread(`${language} is not installed`) : parseOwn(language as OwnLanguage, path, text);
const look = (...files: readonly ChangedFile[]) => syntaxLens(files, parse);
const locations = (...files: readonly ChangedFile[]) => look(...files).defects.map(({ location }) => location);

const whole: readonly (readonly [path: string, text: string])[] = [
  ["a.js", "const a = <b>{c}</b>;"],
  ["a.js", "// @flow\ntype A = {| a: number |}; const f = (x: A): number => (x: any);"],
  ["a.js", "#!/usr/bin/env node\nreturn await x;"],
  ["a.js", "with (a) { b = 010 }"],
  ["a.js", "@dec export class A { @x y = 1 }"],
  ["a.js", "import a from './a.json' assert { type: 'json' };"],
  ["a.mjs", "import a from './a.json' with { type: 'json' }; await a;"],
  ["a.cjs", "module.exports = 1; return;"],
  ["a.jsx", "export const A = () => <></>;"],
  ["a.ts", "let x = <T>y; enum E { A }"],
  ["a.ts", "class A { constructor(@Inject() private readonly x: number) {} }"],
  ["a.mts", "using x = y as const satisfies Z;"],
  ["a.cts", "import a = require('a'); export = a;"],
  ["a.tsx", "const f = <T,>(x: T) => <b>{x}</b>;"],
  ["a.d.ts", "declare module 'x' { const a: number; export default a }"],
  ["package.json", '{"name":"a"}'],
  ["tsconfig.json", '{ // why\n "a": [1, 2,], }'],
  [".vscode/settings.json", "// none\n{}"],
  ["Cargo.toml", '[package]\nname = "a"\n'],
  ["a.yml", "a: !Ref b\n---\nc: &x 1\nd: *x\n<<: *x\n"],
  [".github/workflows/ci.yml", "on: push\njobs: { a: { if: '${{ x }}' } }\n"],
];
const broken: readonly (readonly [path: string, text: string, line: number])[] = [
  ["a.js", "\nconst a = (1;\n", 2],
  ["a.js", "let a;\nlet a;", 2],
  ["a.mjs", "with (a) { b }", 1],
  ["a.jsx", "const A = <b></c>;", 1],
  ["a.ts", "\n\nfunction f(x: number { }", 3],
  ["a.ts", "const A = <b></b>;", 1],
  ["a.tsx", "const a = (;", 1],
  ["a.d.ts", "declare const a: ;", 1],
  ["tsconfig.json", '{\n "a" 1 }', 2],
  ["pyproject.toml", "[a]\nb = \n", 2],
  ["Cargo.lock", "[a]\n[a]\n", 2],
  ["a.yaml", "a:\n  - b\n c: d\n", 3],
];

describe("the syntax floor", () => {
  it.each(whole)("takes %s: %s", (path, text) => {
    expect(look(changed(path, text))).toEqual({ status: "ran", defects: [] });
  });

  it.each(broken)("names the line of %s: %s", (path, text, line) => {
    expect(look(changed(path, text))).toEqual({
      status: "ran",
      defects: [
        expect.objectContaining({
          id: "SYN1",
          category: "DOES-IT-RUN",
          severity: "HIGH",
          location: `${path}:${line}`,
          fix: expect.stringContaining("does not parse"),
        }),
      ],
    });
  });

  it("takes strict configuration strictly: no comment, no NaN, no empty file", () => {
    for (const text of ["{} // x", '{"a":NaN}', "", '{"a":1,}']) {
      expect(look(changed("packages/a/package.json", text, "{}")).defects, text).toHaveLength(1);
    }
  });

  it("V-13: JavaScript and TypeScript are parsed, and tests are too", () => {
    expect(locations(changed("test/a.test.ts", "it('x', () => {"))).toEqual(["test/a.test.ts:1"]);
    expect(locations(changed("src/a.tsx", "<b>"))).toEqual(["src/a.tsx:1"]);
    expect(locations(changed("test/a.test.ts", "it('x', () => {});"), changed("src/a.tsx", "<b/>;"))).toEqual([]);
  });

  it("V-13: of any number of files each is looked at, and the defects beyond twenty are counted", () => {
    const many = Array.from({ length: 45 }, (_, index) => changed(`a${index}.js`, "("));
    const { defects } = look(...many);
    expect(defects).toHaveLength(21);
    expect(defects.at(-1)).toMatchObject({ severity: "HIGH", fix: "25 more files do not parse." });
    expect(new Set(defects.map(({ id }) => id)).size).toBe(21);
    expect(look(...many.slice(0, 20)).defects).toHaveLength(20);
  });

  it("V-09: a deleted file and a pure mode change are no syntax to look at, and what cannot be read is said", () => {
    expect(look(changed("a.js", null, "("))).toMatchObject({ status: "skipped", defects: [] });
    expect(look(changed("a.js", "(", "("))).toMatchObject({ status: "ran", defects: [] });
    const binary = { ...changed("b.js", ""), after: null, isText: false };
    expect(look(cut("a.js"), binary, changed("c.js", "1;"))).toEqual({
      status: "ran",
      reason: "1 file: too large to be read; 1 file: no UTF-8 text",
      defects: [],
    });
    expect(look(cut("a.js"))).toEqual({ status: "skipped", reason: "1 file: too large to be read", defects: [] });
  });

  it("V-21: a text that did not parse before either is nobody's fault now; one that did is held to it", () => {
    expect(locations(changed("a.js", "((", "("))).toEqual([]);
    expect(locations(changed("a.js", "((", "1;"))).toEqual(["a.js:1"]);
    const unreadBefore = { ...changed("a.js", "(", "x"), before: null };
    expect(look(unreadBefore)).toMatchObject({ defects: [], reason: expect.stringContaining("is not known") });
  });

  it.each(["tests/fixtures/a/package.json", "src/testdata/b/package.json", "test/data/package.json"])(
    "V-21: a fixture that is broken on purpose is no defect: %s",
    (path) => {
      expect(locations(changed(path, "{"))).toEqual([]);
    },
  );

  it.each(["package.json", "src/data/package.json", "fixtures.d/package.json", "tests/package.json"])(
    "the same text elsewhere is one: %s",
    (path) => {
      expect(locations(changed(path, "{"))).toEqual([expect.stringContaining(path)]);
    },
  );

  it("V-21: a new .json, of which nobody knows the reader, may be of any form; one that parsed must parse", () => {
    expect(locations(changed("a.json", "{{ x }}"))).toEqual([]);
    expect(locations(changed("a.json", '{"a":1}\n{"a":2}\n', '{"a":1}'))).toEqual([]);
    expect(locations(changed("a.json", '{"a":', '{"a":1}'))).toEqual(["a.json:1"]);
    expect(locations(changed("a.toml", "a = ", "a = 1"))).toEqual(["a.toml:1"]);
  });

  it.each([
    ["charts/a/templates/b.yaml", "{{- if .x }}\na: b\n  c: [\n{{- end }}"],
    ["roles/a.yml", "{% if x %}\na: [\n{% endif %}"],
    ["{{cookiecutter.slug}}/package.json", "{"],
    ["templates/app/index.js", "import {{ name }} from 'x';"],
    ["html/common.js", "const a = 1;\n{{if .b}}\nconst c = {{.d}};\n{{end}}\n"],
  ])("the text of a template is no text of its language: %s", (path, text) => {
    expect(locations(changed(path, text))).toEqual([]);
    // Broken elsewhere, and no template.
    expect(locations(changed("src/a.js", "const a = (;"))).toHaveLength(1);
  });

  it("a folder called templates frees no text without a template's marks", () => {
    expect(locations(changed("templates/index.js", "const a = ("))).toHaveLength(1);
    expect(isTemplate("a.tsx", "const a = <b style={{ c }}>{`{{ b }}`}</b>;")).toBe(false);
  });

  it.each([
    ["a.py", "", "python"],
    ["a.pyi", "", "python"],
    ["Rakefile", "", "ruby"],
    ["a.gemspec", "", "ruby"],
    ["a.php", "", "php"],
    ["a.go", "", "go"],
    ["a.sh", "", "shell"],
    ["a.sh", "#!/usr/bin/env bash\n", "shell"],
    ["a.sh", "#!/bin/dash\n", "shell"],
    ["a.sh", "#!/usr/bin/env zsh\n", null],
    ["a.sh", "emulate -L zsh\n", null],
    ["a.sh", "#!/usr/bin/fish\n", null],
    ["a.py", "#!/usr/bin/python2\n", null],
    ["a.json5", "", null],
    ["README.md", "", null],
    ["Makefile", "", null],
  ])("V-21: %s beginning with %j is %s", (path, text, language) => {
    expect(languageOf(path, text)?.language ?? null).toBe(language);
  });

  it("says which languages it had no parser for, and is skipped where it could look at nothing", () => {
    const rubies = [changed("a.rb", "x"), changed("b.rb", "x")];
    expect(look(...rubies, changed("a.js", "1"))).toEqual({
      status: "ran",
      reason: "2 files: ruby is not installed",
      defects: [],
    });
    expect(look(...rubies)).toMatchObject({ status: "skipped", reason: "2 files: ruby is not installed" });
    expect(look(changed("README.md", "x"))).toMatchObject({ status: "skipped" });
  });

  it("V-27: a text nested beyond any stack is left unread, said, and no defect", () => {
    const deep = "(".repeat(200_000);
    expect(look(changed("a.js", deep), changed("b.js", "1"))).toEqual({
      status: "ran",
      reason: "1 file: its parser could not take it",
      defects: [],
    });
  });
});
