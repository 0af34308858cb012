import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildBundles, ENTRY_BYTES_MAX } from "../../scripts/build/bundle.ts";
import { buildId } from "../../scripts/build/inputs.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { tempFolder } from "../support/temp.ts";

const standIns: Readonly<Record<string, string>> = {
  "package.json": '{"name":"atlas","version":"1.2.3","type":"module"}',
  "package-lock.json": "{}",
  "node_modules/tiny/package.json": '{"name":"tiny","version":"4.5.6","license":"ISC","main":"index.js"}',
  "node_modules/tiny/index.js": "/*! legal */ module.exports = { tiny: () => 'tiny' };",
  "node_modules/tiny/LICENSE": "Permission to be tiny.",
  "scripts/atlas.ts": `
    declare const ATLAS_BUILD: string;
    declare const ATLAS_VERSION: string;
    import { word } from "./core/word.ts";
    async function main(): Promise<void> {
      if (process.argv[2] === "verb") (await import("./verbs/main.ts")).run(word);
      else console.log(word, ATLAS_VERSION, ATLAS_BUILD);
    }
    void main();`,
  "scripts/core/word.ts": 'export const word = "ünï";',
  "scripts/verbs/main.ts": `
    declare const ATLAS_BUILD: string;
    import { tiny } from "tiny";
    export function run(word: string): void { console.log(word, tiny(), ATLAS_BUILD); }`,
};

function standInTree(folder: string, changes: Readonly<Record<string, string>> = {}): string {
  for (const [name, text] of Object.entries({ ...standIns, ...changes })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

const contents = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));

const run = (folder: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(folder, "atlas.cjs"), ...args], { cwd: "/" })
    .stdout.toString()
    .trim();

describe("the build", () => {
  test("dist is what the sources build", { timeout: 120_000 }, async () => {
    const folder = tempFolder();
    await buildBundles(repositoryRoot, folder);
    const [built, committed] = [contents(folder), contents(join(repositoryRoot, "dist"))];
    const differing = [...new Set([...Object.keys(built), ...Object.keys(committed)])].filter(
      (name) => built[name] !== committed[name],
    );
    expect(differing, "npm run build was forgotten").toEqual([]);
  });

  test("the same sources give the same bytes in every folder", async () => {
    const [one, two] = [standInTree(tempFolder("one-")), standInTree(tempFolder("two $ ü-"))];
    await buildBundles(one, join(one, "dist"));
    await buildBundles(two, join(two, "dist"));
    expect(contents(join(one, "dist"))).toEqual(contents(join(two, "dist")));
    expect(JSON.stringify(contents(join(one, "dist")))).not.toContain("one-");
  });

  test("the bundles stand alone, carry one build id, and load a verb only when it is reached", async () => {
    const tree = standInTree(tempFolder());
    const id = buildId(tree);
    await buildBundles(tree, join(tree, "dist"));
    const elsewhere = tempFolder();
    cpSync(join(tree, "dist"), elsewhere, { recursive: true });
    expect(run(elsewhere)).toBe(`ünï 1.2.3 ${id}`);
    expect(run(elsewhere, "verb")).toBe(`ünï tiny ${id}`);
    expect(readFileSync(join(elsewhere, "atlas.cjs"), "utf8")).not.toContain("tiny");
    expect(readFileSync(join(elsewhere, "LICENSES.txt"), "utf8")).toContain(
      "tiny 4.5.6 (ISC)\n\nPermission to be tiny.",
    );
  });

  test.each([
    ["a source", { "scripts/core/word.ts": 'export const word = "other";' }],
    ["the lockfile", { "package-lock.json": '{"lockfileVersion":3}' }],
  ])("another build id after a change of %s", (_what, change) => {
    expect(buildId(standInTree(tempFolder(), change))).not.toBe(buildId(standInTree(tempFolder())));
  });

  test("a demo host is built when its source is there, and a stale file goes", async () => {
    const tree = standInTree(tempFolder());
    await buildBundles(tree, join(tree, "dist"));
    expect(existsSync(join(tree, "dist", "demo-host.cjs"))).toBe(false);
    writeFileSync(join(tree, "dist", "old.cjs"), "");
    standInTree(tree, { "scripts/verbs/demo-host.ts": "console.log(1);" });
    const files = await buildBundles(tree, join(tree, "dist"));
    expect(files).toEqual(["LICENSES.txt", "atlas.cjs", "demo-host.cjs", "verbs.cjs"]);
    expect(readdirSync(join(tree, "dist")).sort()).toEqual(files);
  });

  test("an entry above its limit is refused and leaves dist as it was", async () => {
    const tree = standInTree(tempFolder());
    await buildBundles(tree, join(tree, "dist"));
    const before = contents(join(tree, "dist"));
    standInTree(tree, { "scripts/core/word.ts": `export const word = "${"x".repeat(ENTRY_BYTES_MAX)}";` });
    await expect(buildBundles(tree, join(tree, "dist"))).rejects.toThrow("move code behind a verb");
    expect(contents(join(tree, "dist"))).toEqual(before);
  });

  test("a bundled package without a licence text is refused", async () => {
    const tree = standInTree(tempFolder());
    writeFileSync(join(tree, "node_modules/tiny/package.json"), '{"name":"tiny","version":"4.5.6","main":"index.js"}');
    rmSync(join(tree, "node_modules/tiny/LICENSE"));
    await expect(buildBundles(tree, join(tree, "dist"))).rejects.toThrow("brings no licence text");
  });
});
