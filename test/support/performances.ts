/** Performing commands in tests: a bundled performer, jobs in temporary folders, and who still carries a nonce. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import {
  type BegunCommand,
  type PreparedPerformer,
  preparePerformer,
  type Settled,
  waitForResult,
} from "../../scripts/platform/performer-client.ts";
import type { CommandJob } from "../../scripts/platform/performer-job.ts";
import type { CommandResult } from "../../scripts/platform/performer-result.ts";
import { systemProcesses } from "../../scripts/platform/processes.ts";
import { keptFolder, tempFolder } from "./temp.ts";

export const processes = systemProcesses();
const patienceMs = 30_000;

/** The performer as one plain script, so that its processes start as fast as the released ones. */
export async function bundlePerformer(): Promise<{ readonly script: string; readonly remove: () => void }> {
  const folder = keptFolder("atlas-performer-");
  const script = join(folder.path, "performer.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("performer-entry.ts", import.meta.url))],
    outfile: script,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  return { script, remove: folder.remove };
}

export interface Stage {
  readonly folder: string;
  readonly job: CommandJob;
  readonly jobPath: string;
  /** A path in the folder. */
  at(name: string): string;
}

export function stage(text: string, changes: Partial<CommandJob> = {}): Stage {
  const folder = tempFolder("atlas-command-");
  const at = (name: string): string => join(folder, name);
  const job: CommandJob = {
    v: 1,
    nonce: randomBytes(12).toString("hex"),
    text,
    cwd: folder,
    timeMs: patienceMs,
    memoryBytes: 2 ** 32,
    outputBytes: 2 ** 30,
    log: at("log"),
    result: at("result.json"),
    environment: { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C.UTF-8" },
    ...changes,
  };
  // A failing test must not leave its command behind.
  onTestFinished(() => {
    for (const pid of bearers(job.nonce)) killQuietly(pid);
  });
  return { folder, job, jobPath: at("job.json"), at };
}

export async function prepare(script: string, staged: Stage): Promise<PreparedPerformer> {
  const { job, jobPath } = staged;
  const entry: readonly [string, ...string[]] = [process.execPath, script, "perform"];
  const prepared = await preparePerformer({ fs: realFileSystem, entry, job, jobPath });
  const { pid, start } = prepared.performer;
  onTestFinished(() => {
    if (pid !== null && processes.look(pid)?.start === start) killQuietly(pid);
  });
  return prepared;
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Ended in between.
  }
}

export function begun(prepared: Omit<PreparedPerformer, "go" | "giveUp">, staged: Stage): BegunCommand {
  return {
    performer: prepared.performer,
    group: prepared.group,
    ticket: prepared.ticket,
    resultPath: staged.job.result,
  };
}

export function wait(command: BegunCommand, waitMs = patienceMs): Promise<Settled> {
  return waitForResult({ fs: realFileSystem, processes, command, waitMs, everyMs: 10 });
}

/** Runs the command to its end. */
export async function perform(script: string, staged: Stage): Promise<CommandResult> {
  const prepared = await prepare(script, staged);
  prepared.go();
  return resultOf(await wait(begun(prepared, staged)));
}

export function resultOf(settled: Settled): CommandResult {
  if (settled.kind !== "result") throw new Error(`no result: ${JSON.stringify(settled)}`);
  return settled.result;
}

/** Pids of the living processes whose environment holds the nonce anywhere, found without the code under test. */
export function bearers(nonce: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && processes.look(Number(name))?.dead === false)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, "latin1").includes(nonce);
      } catch {
        return false;
      }
    })
    .map(Number);
}

export async function until(what: string, isSo: () => boolean): Promise<void> {
  for (const begin = performance.now(); !isSo(); await sleep(5))
    if (performance.now() - begin > patienceMs) throw new Error(`waited in vain: ${what}`);
}

export function untilFile(path: string): Promise<void> {
  return until(path, () => existsSync(path));
}

export function untilGone(pid: number | null): Promise<void> {
  return until(`the end of ${pid}`, () => pid === null || (processes.look(pid)?.dead ?? true));
}
