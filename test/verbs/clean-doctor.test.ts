/** `clean` and `doctor` as they are typed, on whole runs of the command line. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cliEnvironment } from "../support/run-cli.ts";
import {
  begin,
  builtPlugin,
  gitIn,
  makeWorld,
  type Plugin,
  request,
  runFolder,
  scripted,
  sit,
  type World,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

interface CleanAnswer {
  readonly removed: readonly string[];
  readonly kept: readonly { readonly path: string; readonly why: string }[];
  readonly dropped: readonly string[];
}

/** What a person sees. */
function typed(world: World, ...words: readonly string[]) {
  const env = cliEnvironment(world.env);
  return spawnSync(process.execPath, [plugin.cli, ...words], { cwd: world.project, env, encoding: "utf8" });
}

test("cleaning takes nothing a finished run still answers from: its report and its work are as before", async () => {
  const world = makeWorld(plugin, tempFolder("atlas clean $ ä-"));
  const session = sit(world);
  const end = await scripted(session).go(await begin(session, request, "--headless"));
  expect(end.next).toMatchObject({ do: "report" });
  const tree = join(runFolder(world), "worktree", "e1.1");
  const asked = ["report", "--run", (end.json.run as { id: string }).id];
  const before = (await session.run(...asked)).json;

  const foretold = (await session.run("clean", "--dry-run")).json as unknown as CleanAnswer;
  const done = await session.run("clean");
  expect(done.code).toBe(0);
  expect(done.json).toEqual(foretold);
  // What the coder did lies in no commit: it is dirty, so it stays.
  expect((done.json as unknown as CleanAnswer).kept.map(({ path }) => path)).toContain(tree);
  expect(existsSync(join(tree, "src", "add.js"))).toBe(true);
  expect((await session.run(...asked)).json).toEqual(before);
  expect(before).toMatchObject({ label: "UNVERIFIED" });
  expect((await session.run("next", "--run", asked[2] as string)).next).toMatchObject({ do: "report" });
  expect(gitIn(world.project, "status", "--porcelain")).toBe("");
});

test("the doctor ends with 0 whatever it finds, says what is wrong first, and each with its fix beneath", async () => {
  const world = makeWorld(plugin, tempFolder());
  const session = sit(world);
  await begin(session, request);
  const log = join(runFolder(world), "log.jsonl");
  writeFileSync(log, "torn");
  const told = await session.run("doctor");
  expect(told.code).toBe(0);
  const checks = told.json.checks as readonly { name: string; ok: boolean; detail: string; fix: string | null }[];
  for (const check of checks) expect(Object.keys(check)).toEqual(["name", "ok", "detail", "fix"]);
  expect(checks.some(({ name, ok }) => name.startsWith("ledger ") && !ok)).toBe(true);

  const lines = typed(world, "doctor").stdout.trimEnd().split("\n");
  const marks = lines.filter((line) => !line.startsWith("  ")).map((line) => line.split(" ")[0]);
  expect(marks).toEqual([...marks].sort());
  expect(new Set(marks)).toEqual(new Set(["BAD", "ok"]));
  for (const [at, line] of lines.entries()) if (line.startsWith("BAD")) expect(lines[at + 1]).toMatch(/^ {2}fix: \S/);
});

test("with nothing to clean it says so, and an unknown run's kept refs are refused", async () => {
  const world = makeWorld(plugin, tempFolder());
  mkdirSync(join(world.project, ".atlas"));
  expect(typed(world, "clean").stdout).toBe("nothing to clean\n");
  const refused = await sit(world).run("clean", "--drop-kept", "nobody");
  expect({ code: refused.code, refused: refused.refused.code }).toEqual({ code: 3, refused: "run.unknown" });
});
