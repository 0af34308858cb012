import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { writeOwnRun } from "../support/ledger.ts";
import { hookCommands, installed, livingHost, shipped, typeInShell } from "../support/replay.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import { sessionId, sit } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

const product = shipped();

test("C-19: without the plugin's folder in the environment hooks are quiet, the command finds itself, and doctor says why nothing was said", async () => {
  const world = { ...product.world(), plugin: installed(product, tempFolder()) };
  writeOwnRun(join(world.project, ".atlas"));
  const input = JSON.stringify({
    session_id: sessionId(1),
    cwd: world.project,
    hook_event_name: "SessionStart",
    source: "startup",
  });
  for (const [host, variable] of [
    ["claude", "CLAUDE_PLUGIN_ROOT"],
    ["kimi", "KIMI_PLUGIN_ROOT"],
  ] as const) {
    const command = hookCommands(host).get("SessionStart") as string;
    for (const value of [undefined, ""]) {
      const env = cliEnvironment({ ...world.env, [variable]: value });
      const done = spawnSync("/bin/sh", ["-c", command], { cwd: world.project, env, input, encoding: "utf8" });
      expect([done.status, done.stdout, done.stderr], host).toEqual([0, "", ""]);
    }
  }
  // Through a link from somewhere else, with a root that leads nowhere.
  const bin = join(dirname(world.project), "bin");
  mkdirSync(bin);
  symlinkSync(join(world.plugin.root, "bin", "atlas"), join(bin, "atlas"));
  const env = { CLAUDE_PLUGIN_ROOT: "/scripts" };
  const status = await typeInShell(world, `${join(bin, "atlas")} status`, { env });
  expect(status.stdout, status.stderr).toContain("kind=change");

  const session = sit(world, { host: livingHost(), env: { CLAUDECODE: "1", ...env } });
  const { checks } = (await session.run("doctor")).json as { checks: { name: string; ok: boolean; detail: string }[] };
  expect(checks.find(({ name }) => name === "hooks")).toMatchObject({
    ok: false,
    detail: expect.stringContaining("CLAUDE_PLUGIN_ROOT"),
  });
  expect(checks.find(({ name, ok }) => name === "environment" && !ok)?.detail).toContain("CLAUDE_PLUGIN_ROOT");
});
