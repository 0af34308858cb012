import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { factsOf, readGolden } from "./golden.ts";

const here = dirname(fileURLToPath(import.meta.url));
const releases = readdirSync(here).filter((name) => statSync(join(here, name)).isDirectory());
const kept = releases.flatMap((release) => readdirSync(join(here, release)).map((name) => [release, name] as const));

/** A copy of a kept ledger, changed. */
function tampered(folder: string, change: (text: string) => string): string {
  const copy = join(tempFolder(), "run");
  cpSync(folder, copy, { recursive: true });
  const log = join(copy, "log.jsonl");
  const before = readFileSync(log, "utf8");
  writeFileSync(log, change(before));
  expect(readFileSync(log, "utf8")).not.toBe(before);
  return copy;
}

test("every release kept at least a finished and an unfinished run", () => {
  expect(releases.length).toBeGreaterThan(0);
  for (const release of releases) expect(readdirSync(join(here, release))).toEqual(["finished", "unfinished"]);
});

describe.each(kept)("the ledger of release %s, %s", (release, name) => {
  const folder = join(here, release, name);

  test("folds as it did then", () => {
    expect(factsOf(readGolden(folder))).toEqual(JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")));
  });

  test("names no place of a machine but the one it was made in", () => {
    const paths = readFileSync(join(folder, "log.jsonl"), "utf8").match(/"\/[^"]*"/g) ?? [];
    expect(paths.filter((path) => !path.startsWith('"/tmp/atlas-golden/'))).toEqual([]);
  });

  test("tampered with, fails by the right name", () => {
    expect(() => readGolden(tampered(folder, (text) => text.replace('"gas-granted"', '"gas-grinted"')))).toThrow(
      /ledger\.chain_broken/,
    );
    const lines = (text: string) => text.split("\n\n");
    expect(() =>
      readGolden(
        tampered(folder, (text) =>
          lines(text)
            .filter((_line, at) => at !== 2)
            .join("\n\n"),
        ),
      ),
    ).toThrow(/ledger\.chain_broken/);
    // Its last line gone, the snapshot still knows of it.
    expect(() => readGolden(tampered(folder, (text) => lines(text).slice(0, -1).join("\n\n")))).toThrow(
      /ledger\.tail_lost/,
    );
  });
});
