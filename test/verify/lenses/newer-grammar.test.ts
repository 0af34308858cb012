import { describe, expect, it } from "vitest";
import { mayBeNewer } from "../../../scripts/verify/lenses/newer-grammar.ts";

const at = (files: Readonly<Record<string, string>>) => (path: string) => files[path] ?? null;
const python = (text: string, line: number | null, version: string | null, files = {}) =>
  mayBeNewer("python", text, { line, version }, at(files));

describe("V-20: a grammar newer than the parser's", () => {
  it.each([
    ["type A = int", "3.11"],
    ["def f[T](a: T): ...", "3.11"],
    ["class A[T]:", "3.11"],
    [`f"{a["b"]}"`, "3.11"],
    ["except* ValueError:", "3.10"],
    ["except A, B:", "3.13"],
    ["match a:", "3.9"],
    ["with (open(a) as b, open(c) as d):", "3.8"],
    ["if (a := b):", "3.7"],
  ])("%s is no fault for %s", (line, version) => {
    expect(python(`x = 1\n${line}\n`, 2, version)).toBe(true);
  });

  it.each([
    ["type A = int", "3.12"],
    ["def f(a:", "3.11"],
    ["x = (1", "3.8"],
    ["class A", "3.11"],
    ["except* ValueError:", "3.11"],
  ])("%s is one for %s", (line, version) => {
    expect(python(`x = 1\n${line}\n`, 2, version)).toBe(false);
  });

  it.each([
    ["python", "3.11", { "pyproject.toml": '[project]\nrequires-python = ">=3.12"\n' }],
    ["python", "3.11", { "pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.13"\n' }],
    ["python", "3.11", { ".python-version": "3.14.1\n" }],
    ["python", "3.11", { "setup.cfg": "[options]\npython_requires = >=3.12\n" }],
    ["ruby", "3.1", { ".ruby-version": "3.3.0\n" }],
    ["ruby", "3.1", { Gemfile: 'ruby "~> 3.4"\n' }],
    ["php", "8.2", { "composer.json": '{"require":{"php":"^8.4"}}' }],
    ["php", "8.2", { "composer.json": '{"require":{"php":">=9.0"}}' }],
  ] as const)("%s %s says nothing of a project that asks for more", (language, version, files) => {
    expect(mayBeNewer(language, "(", { line: 1, version }, at(files))).toBe(true);
    expect(mayBeNewer(language, "(", { line: 1, version: "99.0" }, at(files))).toBe(false);
    expect(mayBeNewer(language, "(", { line: 1, version }, at({}))).toBe(false);
    expect(mayBeNewer(language, "(", { line: 1, version: null }, at(files))).toBe(false);
  });

  it("a line that is not told or not there is no newer grammar", () => {
    expect(python("type A = int", null, "3.11")).toBe(false);
    expect(python("type A = int", 99, "3.11")).toBe(false);
  });
});
