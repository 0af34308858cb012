import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { writeOwnRun } from "../support/ledger.ts";
import { hookCommands, installed, shipped } from "../support/replay.ts";
import { sessionId, type World } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

const product = shipped();

/** Each of a session's first three events with nothing in the environment but what a bare `env -i` leaves. */
function session(
  world: World,
  home: string,
  n: number,
): readonly { code: number | null; stdout: string; stderr: string }[] {
  const bin = join(dirname(world.project), `bin-${n}`);
  mkdirSync(bin);
  for (const name of ["mkdir", "readlink", "sh"]) symlinkSync(join("/bin", name), join(bin, name));
  return ["SessionStart", "UserPromptSubmit", "SessionEnd"].map((on) => {
    const input = {
      session_id: sessionId(n),
      cwd: world.project,
      hook_event_name: on,
      source: "startup",
      prompt: "x",
      reason: "other",
    };
    const done = spawnSync("/bin/sh", ["-c", hookCommands("claude").get(on) as string], {
      cwd: world.project,
      env: {
        PATH: bin,
        HOME: home,
        ATLAS_NODE_PLACES: "",
        CLAUDE_PLUGIN_ROOT: world.plugin.root,
        CLAUDE_CODE_SESSION_ID: sessionId(n),
      },
      input: JSON.stringify(input),
      encoding: "utf8",
      timeout: 20_000,
    });
    return { code: done.status, stdout: done.stdout, stderr: done.stderr };
  });
}

test("C-17: with node in a version manager's folder only, hooks work; with none they pass, and one message a session names the fix", () => {
  const world = { ...product.world(), plugin: installed(product, tempFolder()) };
  writeOwnRun(join(world.project, ".atlas"));
  const homes = [".nvm/versions/node/v20.9.0/bin/node", ".volta/bin/node"].map((path) => {
    const home = tempFolder();
    mkdirSync(dirname(join(home, path)), { recursive: true });
    symlinkSync(process.execPath, join(home, path));
    return home;
  });
  homes.forEach((home, at) => {
    const [start, ...others] = session(world, home, at);
    expect(start?.stdout, home).toContain("atlas: unfinished run.");
    for (const one of [start, ...others]) expect(one).toMatchObject({ code: 0, stderr: "" });
  });

  const bare = session(world, tempFolder(), 7);
  expect(bare.map(({ code }) => code)).toEqual([0, 0, 0]);
  const messages = bare.map(({ stdout, stderr }) => stdout + stderr).filter((text) => text !== "");
  expect(messages).toHaveLength(1);
  expect(messages[0]).toMatch(/node.*20|ATLAS_NODE/);
});
