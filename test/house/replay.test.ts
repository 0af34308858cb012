import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryRoot } from "../support/run-cli.ts";

const folder = join(repositoryRoot, "test", "replay");
const readme = readFileSync(join(folder, "README.md"), "utf8");
const [, listed = "", later = ""] = readme.split(/^## .*$/m);

/** The first cells of a table's rows that are numbers. */
const rows = (text: string) =>
  [...text.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, no, rest]) => [Number(no), rest] as const);

const cases = [
  1, 2, 4, 5, 6, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19, 21, 22, 23, 24, 25, 26, 28, 29, 31, 32, 33, 34, 36, 37, 39, 40,
  41, 42, 43, 45, 46, 47, 49, 51, 53, 54, 55, 57, 58, 59, 61, 62, 63, 65, 66, 68, 69, 71, 72,
];

describe("replayed cases", () => {
  const files = readdirSync(folder).filter((name) => name.startsWith("c-"));
  const numberOf = (name: string) => Number(/^c-(\d\d)-[a-z0-9-]+\.test\.ts$/.exec(name)?.[1]);

  test("the list holds every case once, in order", () => {
    expect(rows(listed).map(([no]) => no)).toEqual(cases);
  });

  test("each case has a test or a row that says what brings it, never both and never none", () => {
    const tested = files.map(numberOf);
    const waiting = rows(later).map(([no]) => no);
    expect([...tested, ...waiting].sort((a, b) => a - b)).toEqual(cases);
  });

  test("what waits names what brings it, and why", () => {
    for (const [no, rest] of rows(later)) {
      expect(rest, String(no)).toMatch(/^(3 Proof|4 Change|5 Weave|`flow`|`branch`) \| [A-Z].+\.$/);
    }
  });

  test("a case's tests name its number first", () => {
    for (const name of files) {
      const text = readFileSync(join(folder, name), "utf8");
      const titles = [...text.matchAll(/\btest(?:\.each\([\s\S]*?\))?\(\s*["`]([^"`]*)/g)].map(([, title]) => title);
      expect(titles.length, name).toBeGreaterThan(0);
      const number = `C-${String(numberOf(name)).padStart(2, "0")}`;
      for (const title of titles) expect(title, name).toMatch(new RegExp(`^${number}(:| )`));
    }
  });
});
