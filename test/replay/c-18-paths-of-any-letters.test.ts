import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeOwnRun } from "../support/ledger.ts";
import { commandIn, heardBy, hookCommands, installed, shipped, typeInShell } from "../support/replay.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import { begin, request, sessionId, sit, type Told } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

const product = shipped();
const hostile = `a b/ü'x$(y)"z"\`w\`;&`;

test.each([
  ["claude", "CLAUDE_PLUGIN_ROOT"],
  ["kimi", "KIMI_PLUGIN_ROOT"],
] as const)(
  "C-18 %s: plugin and project lie under any letters, and every hook and command works",
  async (host, variable) => {
    const plugin = installed(product, join(tempFolder(), hostile, "plugin"));
    const world = { ...product.world("p $(q) 'ü' "), plugin };
    writeOwnRun(join(world.project, ".atlas"));
    const answers = new Map<string, Told>();
    for (const on of ["SessionStart", "PostCompact", "UserPromptSubmit"]) {
      const input = {
        session_id: `session_${sessionId(1)}`,
        cwd: world.project,
        hook_event_name: on,
        source: "startup",
        prompt: "x",
      };
      const done = spawnSync("/bin/sh", ["-c", hookCommands(host).get(on) as string], {
        cwd: world.project,
        env: cliEnvironment({ ...world.env, [variable]: plugin.root }),
        input: JSON.stringify(input),
        encoding: "utf8",
      });
      expect({ on, code: done.status, stderr: done.stderr }).toEqual({ on, code: 0, stderr: "" });
      answers.set(on, done as unknown as Told);
    }
    const pointer = heardBy(host, answers.get(host === "claude" ? "SessionStart" : "UserPromptSubmit") as Told);
    const status = await typeInShell(world, commandIn(pointer).replace(/ resume .*/, " status"));
    expect(status.stdout, status.stderr).toContain("kind=change");
    // A run of its own there, and what it prints is found.
    const told = await begin(sit(world, { env: { ATLAS_EXCLUSIVE: "1" } }), request, "--headless");
    expect(told.next, told.stdout + told.stderr).toMatchObject({ do: "submit", slot: "triage" });
  },
);
