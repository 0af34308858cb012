import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryRoot } from "../support/run-cli.ts";

const bytesMax = 8 * 1024 * 1024;

/** Tracked files and those that would be: what a clone or a plugin install carries. */
function carriedFiles(): readonly string[] {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const listed = spawnSync("git", args, { cwd: repositoryRoot, maxBuffer: bytesMax });
  expect(listed.status, "git ls-files").toBe(0);
  return listed.stdout
    .toString()
    .split("\0")
    .filter((path) => path !== "" && existsSync(join(repositoryRoot, path)));
}

/** Folders of one machine or build service. `/home/dev` is the invented user of the fixtures. */
const machinePaths =
  /(?<![\w.~}$-])\/(?:home\/(?!dev\b|linuxbrew\b)[a-z]|Users\/(?!dev\b)[A-Za-z]|root\/|workspaces?\/|builds\/|mnt\/[a-z]\/)/;

/** Names of this very machine, read when the test runs; short or common ones would find themselves everywhere. */
function ownNames(): readonly string[] {
  const { username, homedir } = userInfo();
  const common = new Set(["root", "node", "runner", "user", "dev", "atlas", "localhost", "/", "/root", "/home"]);
  return [repositoryRoot, dirname(repositoryRoot), homedir, hostname(), username].filter(
    (name) => name.length >= 5 && !common.has(name),
  );
}

function machineNames(text: string): readonly string[] {
  const path = machinePaths.exec(text)?.[0];
  return [...(path === undefined ? [] : [path]), ...ownNames().filter((name) => isNamed(text, name))];
}

function isNamed(text: string, name: string): boolean {
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?<![\\w.-])${escaped}(?![\\w-])`).test(text);
}

describe("the tree", () => {
  test("names no machine, no user and no workplace", { timeout: 30_000 }, () => {
    const found = carriedFiles()
      .filter((path) => statSync(join(repositoryRoot, path)).size <= bytesMax)
      .filter((path) => path !== "test/house/tree.test.ts")
      .flatMap((path) => {
        const names = machineNames(readFileSync(join(repositoryRoot, path), "utf8"));
        return names.map((name) => `${path} names ${name}`);
      });
    expect(found).toEqual([]);
  });

  test.each(["see /builds/x", '"/root/.config"', "cd /home/ann/p", "/Users/ann/p", repositoryRoot])(
    "%s would be found",
    (text) => {
      expect(machineNames(text)).not.toEqual([]);
    },
  );

  test.each([
    "/home/dev/project",
    "/home/linuxbrew/.linuxbrew/bin",
    "a/builds/b",
    "https://example.org/builds/x",
    "/usr/lib",
    "network/",
  ])("%s is nobody's place", (text) => {
    expect(machineNames(text)).toEqual([]);
  });

  test("what a plugin install copies is complete: nothing of it is made afterwards", () => {
    for (const path of [
      "plugin.json",
      "hooks/hooks.json",
      "hooks/run",
      "bin/atlas",
      "dist/atlas.cjs",
      "dist/look.cjs",
      "dist/globs.cjs",
      "dist/lenses.cjs",
      "dist/readers.cjs",
      "dist/steps.cjs",
      "dist/verbs.cjs",
    ])
      expect(existsSync(join(repositoryRoot, path)), path).toBe(true);
    expect(statSync(join(repositoryRoot, "bin/atlas")).mode & 0o111).not.toBe(0);
  });
});
