/** The shipped bundle under a kernel that says no: `strace` fails one call of it, and the next command finds all well. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { requirePtrace } from "../crash/strace.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import { builtPlugin, makeWorld, type Plugin, request, type World } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";
import { isAll, random, seed } from "./budget.ts";

let plugin: Plugin;
beforeAll(async () => {
  requirePtrace();
  plugin = await builtPlugin();
});
afterAll(() => plugin?.remove());

/** What the last calls of a command can meet; node begins an interrupted one again by itself. */
const cases = [
  ["fsync", "EIO", /^disk\.(io|unsynced)$/],
  ["mkdir", "ENOSPC", /^disk\.full$/],
  ["rename", "EROFS", /^disk\.readonly$/],
  ["mkdir", "EACCES", /^disk\.permission$/],
  ["fsync", "EINTR", /^$/],
] as const;

function start(world: World, before: readonly string[]) {
  const packet = join(world.project, "..", "packet.json");
  writeFileSync(packet, JSON.stringify(request));
  const words = [...before, process.execPath, world.plugin.cli, "start", "change", "--packet", packet, "--json"];
  const [program = "", ...args] = words;
  const env = cliEnvironment(world.env);
  const done = spawnSync(program, args, { cwd: world.project, env, encoding: "utf8", timeout: 60_000 });
  return {
    code: done.status,
    json: JSON.parse(done.stdout || "{}") as Record<string, never>,
    text: done.stdout + done.stderr,
  };
}

/** Which of its calls touch the run's folder: node's own on the way up are not ours. */
function ownCalls(call: string): readonly number[] {
  const world = makeWorld(plugin, tempFolder(), "none");
  const trace = join(tempFolder(), "trace");
  start(world, ["strace", "-qq", "-y", "-o", trace, "-e", `trace=${call}`]);
  const lines = readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`${call}(`));
  return lines.flatMap((line, at) => (line.includes("/.atlas") ? [at + 1] : []));
}

test("one call that fails: the disk or the limit is named with exit 4, and the same command then opens the run", {
  timeout: 600_000,
}, () => {
  const picked = isAll ? cases : [cases[Math.floor(random() * cases.length)] as (typeof cases)[number]];
  const said: string[] = [];
  for (const [call, error, code] of picked) {
    const places = ownCalls(call);
    expect(places.length, `no ${call} of ours`).toBeGreaterThan(0);
    for (const at of isAll ? places.slice(0, 12) : [places[Math.floor(random() * places.length)]]) {
      const world = makeWorld(plugin, tempFolder(), "none");
      const traced = ["strace", "-qq", "-o", "/dev/null", "-e", `trace=${call}`];
      const told = start(world, [...traced, "-e", `inject=${call}:error=${error}:when=${at}`]);
      said.push(`${call} ${at} ${error}: exit ${told.code}`);
      const named = (told.json.error as { readonly code?: string } | undefined)?.code ?? "";
      const isNamed = told.code === 4 && code.test(named);
      expect(told.code === 0 || isNamed, `${call} ${at} ${error}: ${told.text}`).toBe(true);
      expect(start(world, []).code, `after ${call} ${at} ${error}`).toBe(0);
    }
  }
  console.log(`${said.join("\n")}\nseed ${seed} (ATLAS_SEED repeats them)`);
});
