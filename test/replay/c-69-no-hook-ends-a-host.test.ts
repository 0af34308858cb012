import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeOwnRun } from "../support/ledger.ts";
import { hookCommands, livingHost, shipped } from "../support/replay.ts";
import { sessionId, sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-69: no hook ends, stops or restarts a process: host and neighbours live on behind every event", async () => {
  const world = product.world();
  writeOwnRun(join(world.project, ".atlas"));
  const [host, neighbour] = [livingHost(), livingHost()];
  const session = sit(world, { host, session: sessionId(1) });
  for (const on of hookCommands("claude").keys()) {
    const told = await session.hook("claude", on, {
      source: "compact",
      reason: "other",
      prompt: "x",
      tool_name: "Write",
    });
    expect([on, told.code]).toEqual([on, 0]);
    for (const { pid } of [host, neighbour]) expect(process.kill(pid, 0)).toBe(true);
  }
  // Nor could it: the hook's bundle starts nobody but who tells of processes, and signals nobody but to ask.
  const entry = readFileSync(product.plugin.cli, "utf8");
  expect(entry).not.toMatch(/"(?:node:)?(?:cluster|worker_threads)"/);
  const started = [...entry.matchAll(/\b(?:spawn|execFile|fork)(?:Sync)?\)?\(["`]([^"`]*)/g)].map(([, name]) => name);
  expect(
    [...new Set(started)].filter((name) => !["ps", "powershell", "/usr/sbin/sysctl"].includes(name as string)),
  ).toEqual([]);
  const kills = [...entry.matchAll(/\.kill\(([^)]*)\)/g)].map(([, words]) => words);
  expect(kills.filter((words) => !/,0$/.test(words as string))).toEqual([]);
  expect(readdirSync(join(world.project, ".atlas")).length).toBeGreaterThan(0);
});
