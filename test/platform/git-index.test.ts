import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { realFileSystem as fs } from "../../scripts/platform/fs.ts";
import { mayTrack, surelyTracks } from "../../scripts/platform/git-index.ts";
import { gitIn } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

function repository(track: boolean): string {
  const folder = tempFolder();
  gitIn(folder, "init", "-q", ".");
  mkdirSync(join(folder, ".atlas", "x"), { recursive: true });
  writeFileSync(join(folder, ".atlas", "x", "log.jsonl"), "{}\n");
  writeFileSync(join(folder, ".atl"), "");
  writeFileSync(join(folder, "a.txt"), "");
  gitIn(folder, "add", "a.txt", ".atl");
  if (track) gitIn(folder, "add", "-f", ".atlas");
  gitIn(folder, "commit", "-qm", "x");
  return folder;
}

describe("an index", () => {
  test("that holds nothing below the folder says no; a tracked ledger never gets a no", () => {
    expect(mayTrack(fs, repository(false), ".atlas")).toBe(false);
    expect(mayTrack(fs, repository(true), ".atlas")).toBe(true);
  });

  test("that holds the folder as a submodule, or in another letter case, never gets a no", () => {
    const other = repository(false);
    const folder = tempFolder();
    gitIn(folder, "init", "-q", ".");
    gitIn(folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", other, ".atlas");
    expect(mayTrack(fs, folder, ".atlas")).toBe(true);
    const cased = tempFolder();
    gitIn(cased, "init", "-q", ".");
    mkdirSync(join(cased, ".ATLAS"));
    writeFileSync(join(cased, ".ATLAS", "log.jsonl"), "{}\n");
    gitIn(cased, "add", "-f", ".ATLAS");
    expect(mayTrack(fs, cased, ".atlas")).toBe(true);
  });

  test.each([
    ["compressed paths", ["update-index", "--index-version", "4"]],
    ["a shared index", ["update-index", "--split-index"]],
  ])("with %s is git's to read", (_name, words) => {
    const folder = repository(true);
    gitIn(folder, ...words);
    expect(mayTrack(fs, folder, ".atlas")).toBe(true);
  });

  test("of a linked worktree is the one that is read", () => {
    const folder = repository(true);
    const linked = join(tempFolder(), "linked");
    gitIn(folder, "worktree", "add", "-q", linked);
    expect(mayTrack(fs, linked, ".atlas")).toBe(true);
    gitIn(linked, "rm", "-rqf", "--cached", ".atlas");
    gitIn(linked, "commit", "-qm", "not any more");
    expect(mayTrack(fs, linked, ".atlas")).toBe(false);
    expect(mayTrack(fs, folder, ".atlas")).toBe(true);
  });

  test.each([
    ["none at all", () => tempFolder()],
    [
      "bytes that are no index",
      () => {
        const folder = repository(false);
        writeFileSync(join(folder, ".git", "index"), "garbage of some length");
        return folder;
      },
    ],
  ])("%s: git is asked", (_name, make) => {
    expect(mayTrack(fs, make(), ".atlas")).toBe(true);
  });

  test("not written yet holds nothing", () => {
    const folder = tempFolder();
    gitIn(folder, "init", "-q", ".");
    expect(mayTrack(fs, folder, ".atlas")).toBe(false);
  });
});

describe("a certain yes", () => {
  const yes = (folder: string, bytesMax = 1_000_000) => surelyTracks(fs, folder, ".atlas", bytesMax);

  test("is said of a file below the folder, and of no path that only looks alike", () => {
    const folder = repository(true);
    expect(yes(folder)).toBe(true);
    expect(yes(folder, 100)).toBe(false);
    gitIn(folder, "update-index", "--index-version", "4");
    expect(yes(folder)).toBe(false);
    const alike = repository(false);
    for (const path of ["sub/.atlas", "x.atlas", ".atlas-old", ".atlas2"]) {
      mkdirSync(join(alike, path), { recursive: true });
      writeFileSync(join(alike, path, "log.jsonl"), "{}\n");
      gitIn(alike, "add", "-f", path);
    }
    expect(yes(alike)).toBe(false);
    expect(yes(tempFolder())).toBe(false);
  });
});
