import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { markdownBelow } from "../support/prose.ts";
import { repositoryRoot } from "../support/run-cli.ts";

const read = (path: string) => readFileSync(join(repositoryRoot, path), "utf8");
const isThere = (path: string) => existsSync(join(repositoryRoot, path));

const dictionary =
  "run kind ledger line event effect owed slot artifact instruction claim epoch lease gas pass attempt checkpoint defect lens verdict gate role host packet owner tip chain headline place observation terminal".split(
    " ",
  );

describe("docs", () => {
  test("the dictionary explains every word of the house, each once, in order", () => {
    const entries = [...read("docs/words.md").matchAll(/^\| \*\*([a-z ]+)\*\* \| (.+) \|$/gm)];
    const names = entries.map((match) => match[1] ?? "");
    expect(names).toEqual(expect.arrayContaining(dictionary));
    expect(names).toEqual([...new Set(names)].sort());
    for (const match of entries) expect(match[2], match[1]).toMatch(/^[A-Z].*\.$/);
  });

  test("every test a guarantee names is there, and every guarantee names one", () => {
    const text = read("docs/guarantees.md");
    const named = [...text.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map((match) => match[1] ?? "");
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !isThere(path))).toEqual([]);
    const rows = text.split("\n").filter((line) => /^\| \d+ \|/.test(line));
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.filter((row) => !row.includes("`test/"))).toEqual([]);
  });

  test("every source a document names is there", () => {
    const pages = ["README.md", ...markdownBelow("docs")];
    const missing = pages.flatMap((path) =>
      [...read(path).matchAll(/`(scripts\/[\w./-]+)`/g)]
        .map((match) => match[1] ?? "")
        .filter((source) => !isThere(source))
        .map((source) => `${path} names ${source}`),
    );
    expect(missing).toEqual([]);
  });

  test("every relative link of a document leads somewhere", () => {
    const pages = ["README.md", "CHANGELOG.md", ...markdownBelow("docs"), ...markdownBelow("references")];
    const dead = pages.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
        .map((match) => join(path, "..", match[1] ?? ""))
        .filter((target) => !isThere(target))
        .map((target) => `${path} -> ${target}`),
    );
    expect(dead).toEqual([]);
  });

  test("every npm script a document names is there", () => {
    const scripts = (JSON.parse(read("package.json")) as { scripts: Record<string, string> }).scripts;
    const pages = ["README.md", ".ci/run", ...markdownBelow("docs")];
    const named = pages.flatMap((path) =>
      [...read(path).matchAll(/npm run (?:--silent )?([a-z][\w:-]*)/g)].map((match) => match[1] ?? ""),
    );
    const optional = ["test:hosts"];
    expect(named.filter((name) => scripts[name] === undefined && !optional.includes(name))).toEqual([]);
  });
});
