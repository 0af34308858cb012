/** An owner that is stopped in the middle of a command and wakes up when the run is another's. */
import { spawn } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import { type Line, readChain } from "../../scripts/core/line.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { requirePtrace } from "../crash/strace.ts";
import { startHost } from "../support/host-process.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import { scout, workOf } from "../support/scripted-agents.ts";
import {
  begin,
  builtPlugin,
  type LoggedEvent,
  logBytes,
  makeWorld,
  type Plugin,
  request,
  runFolder,
  scripted,
  sessionId,
  sit,
  typeWords,
  type World,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  requirePtrace();
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

/** Opens of the log in one `submit`: some read it, some append to it. */
const opensMax = 60;
const step = 3;
const { seed = 1 } = fc.readConfigureGlobal();

/** A command that goes to sleep before the n-th time it opens the ledger. */
function sleepingAt(world: World, at: number, command: string) {
  const trace = join(world.project, "..", `trace-${at}`);
  const inject = ["-P", join(runFolder(world), "log.jsonl"), "-e", "trace=openat"];
  const words = [...inject, "-e", `inject=openat:signal=SIGSTOP:when=${at}`, process.execPath, world.plugin.cli];
  const said = [...command.split(" ").slice(1), "--json"];
  const child = spawn("strace", ["-q", "-o", trace, ...words, ...said], {
    cwd: world.project,
    env: cliEnvironment(world.env),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let stdout = "";
  let ended = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const done = new Promise<{ readonly code: number | null; readonly stdout: string }>((resolve) =>
    child.once("close", (code) => {
      ended = true;
      resolve({ code, stdout });
    }),
  );
  const pid = child.pid as number;
  const traced = (): number => Number(readText(`/proc/${pid}/task/${pid}/children`));
  onTestFinished(() => {
    if (ended) return;
    process.kill(traced(), "SIGKILL");
    child.kill("SIGKILL");
  });
  return {
    done,
    /** Its pid; null: it was over before. */
    async asleep(): Promise<number | null> {
      while (!ended) {
        if (readText(trace).includes("stopped by SIGSTOP")) return traced();
        await sleep(2);
      }
      return null;
    },
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function linesOf(world: World): readonly Line<LoggedEvent>[] {
  const { lines, end } = readChain<LoggedEvent>(Buffer.from(logBytes(world)), sha256);
  expect(end).toEqual({ at: "end" });
  return lines;
}

test("an owner stopped anywhere in a command appends nothing once it wakes up after a takeover, and is told so", {
  timeout: 120_000,
}, async () => {
  const folder = tempFolder();
  const world = makeWorld(plugin, folder);
  const session = sit(world);
  await session.hook("claude", "SessionStart", { source: "startup" });
  const told = await scripted(session).go(
    await begin(session, request, "--headless"),
    (next) => next.do === "dispatch",
  );
  const [agent] = (told.next as Extract<Instruction, { do: "dispatch" }>).agents;
  const message = scout(workOf(agent)) as string;
  writeFileSync(agent.result, message.slice(0, message.lastIndexOf("\n")));
  const atlas = join(world.project, ".atlas");
  const kept = join(folder, "kept");
  cpSync(atlas, kept, { recursive: true });
  const other = startHost();
  const taker = sit(world, { host: other, session: sessionId(2) });
  await taker.hook("claude", "SessionStart", { source: "startup" });
  const outcomes = new Map<string, number>();
  try {
    for (let at = 1 + (seed % step); at <= opensMax; at += step) {
      rmSync(atlas, { recursive: true });
      cpSync(kept, atlas, { recursive: true });
      const victim = sleepingAt(world, at, agent.then);
      const pid = await victim.asleep();
      if (pid === null) break;
      const asked = await taker.run("resume", "--take-over");
      // The word is for this claim, which stands again in every round.
      if (outcomes.size === 0) await typeWords(taker, "claude", asked.refused.fix);
      const taken = outcomes.size === 0 ? await taker.run("resume", "--take-over") : asked;
      expect([taken.code, taken.epoch], taken.stdout).toEqual([0, 2]);
      process.kill(pid, "SIGCONT");
      const { code, stdout } = await victim.done;
      const lines = linesOf(world);
      const takenOver = lines.findIndex((line) =>
        line.events.some((event) => event.type === "claimed" && event.epoch === 2),
      );
      expect(
        lines
          .slice(takenOver)
          .map((line) => line.by.pid)
          .filter((writer) => writer === pid),
        `stopped at open ${at}`,
      ).toEqual([]);
      const said = JSON.parse(stdout) as { readonly refused?: { readonly code: string; readonly fix: string } };
      const outcome = said.refused === undefined ? `exit ${code}` : `exit ${code} ${said.refused.code}`;
      // Exit 0: it was stopped behind its last line, which then stands before the takeover.
      expect(["exit 3 claim.stale", "exit 0"], `stopped at open ${at}: ${stdout}`).toContain(outcome);
      if (outcome !== "exit 0")
        expect(said.refused?.fix).toBe(`atlas resume --run ${String((told.json.run as { id: string }).id)}`);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  } finally {
    await other.kill();
  }
  expect(outcomes.get("exit 3 claim.stale") ?? 0, JSON.stringify([...outcomes])).toBeGreaterThan(2);
});
