/**
 * What a build prints lies in a file and never in the memory of a process of ours. The suite prints OUTPUT_MB
 * megabytes (60 where it is not said); 300 is the promise.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import {
  begin,
  builtPlugin,
  makeWorld,
  type Plugin,
  request,
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

const outputMb = Number.parseInt(process.env.OUTPUT_MB ?? "60", 10);
const peakMbMax = 100;
const lookEveryMs = 10;

/** Highest resident memory of each process that runs our bundle, in MB, by its verb. */
type Peaks = Map<string, number>;

function lookAtAll(cli: string, peaks: Peaks): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const at = words.indexOf(cli);
      if (at < 0) continue;
      const peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
      const verb = words[at + 1] ?? "";
      peaks.set(verb, Math.max(peak, peaks.get(verb) ?? 0));
    } catch {
      // It ended while it was looked at.
    }
  }
}

async function watched(world: World, command: string, peaks: Peaks): Promise<{ code: number | null; text: string }> {
  const words = [plugin.cli, ...command.split(" ").slice(1), "--json"];
  const child = spawn(process.execPath, words, { cwd: world.project, env: cliEnvironment(world.env) });
  const parts: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  let code: number | null | undefined;
  ended.then((given) => {
    code = given;
  });
  while (code === undefined) {
    lookAtAll(plugin.cli, peaks);
    await sleep(lookEveryMs);
  }
  return { code, text: Buffer.concat(parts).toString("utf8") };
}

test(`${outputMb} MB of output of a build cost no process of ours more than ${peakMbMax} MB`, async () => {
  const world = makeWorld(plugin, tempFolder());
  const session = sit(world);
  const noisy = `node -e 'const b = Buffer.alloc(1 << 20, "a line of output\\n"); for (let i = 0; i < ${outputMb}; i += 1) require("fs").writeSync(1, b)' && node check.js`;
  const ready = (next: Instruction) => next.do === "run";
  const at = await scripted(session, {}).go(
    await begin(session, { ...request, verify_cmd: noisy }, "--headless"),
    ready,
  );
  const peaks: Peaks = new Map();
  let next: Instruction = at.next;
  while (next.do === "run" || next.do === "wait") {
    const told = await watched(world, next.do === "run" ? next.command : next.then, peaks);
    expect(told.code, told.text).toBe(0);
    next = (JSON.parse(told.text) as { next: Instruction }).next;
  }
  const runId = /--run (\S+)/.exec((at.next as Extract<Instruction, { do: "run" }>).command)?.[1];
  expect((await watched(world, `atlas report --run ${runId}`, peaks)).code).toBe(0);
  console.log(
    `peaks with ${outputMb} MB of output: ${[...peaks].map(([verb, mb]) => `${verb} ${Math.round(mb)} MB`).join(", ")}`,
  );
  expect([...peaks.keys()].sort()).toEqual(expect.arrayContaining(["perform-command", "report", "verify"]));
  for (const [verb, mb] of peaks) expect(mb, verb).toBeLessThan(peakMbMax);
});
