/** Which living processes belong to a world: those that were given its state folder. */
import { readdirSync, readFileSync } from "node:fs";
import type { CrashWorld } from "./crash-world.ts";

const pause = new Int32Array(new SharedArrayBuffer(4));
const looksMax = 200;
const betweenLooksMs = 50;

/** Those that do not leave within some seconds: whoever was sent away may need a moment. */
export function leftoverProcesses(world: CrashWorld): readonly string[] {
  for (let look = 0; ; look += 1) {
    const found = processesOf(world);
    if (found.length === 0 || look > looksMax) return found;
    Atomics.wait(pause, 0, 0, betweenLooksMs);
  }
}

/** Ends what a failed trial left running: the next one begins in the same folder. */
export function endProcesses(world: CrashWorld): void {
  for (let look = 0; look < looksMax; look += 1) {
    const pids = pidsOf(world);
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // Gone meanwhile.
      }
    }
    Atomics.wait(pause, 0, 0, betweenLooksMs);
  }
}

/**
 * Reads a world in which something may still be at work: what it takes away meanwhile is no fault of anybody's, so the
 * reading is done again. What goes on vanishing is told.
 */
export function whenStill<T>(read: () => T): T {
  for (let look = 0; ; look += 1) {
    try {
      return read();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || look > looksMax) throw error;
      Atomics.wait(pause, 0, 0, betweenLooksMs);
    }
  }
}

/** Their command lines. */
export function processesOf(world: CrashWorld): readonly string[] {
  return pidsOf(world)
    .map((pid) => `process ${readProcess(pid, "cmdline").replaceAll("\0", " ").trim()}`)
    .sort();
}

function pidsOf(world: CrashWorld): readonly number[] {
  const given = `\0XDG_STATE_HOME=${world.env.XDG_STATE_HOME}\0`;
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && `\0${readProcess(Number(name), "environ")}`.includes(given))
    .map(Number);
}

/** Empty: it is gone meanwhile, or another user's. */
function readProcess(pid: number, what: "environ" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "latin1");
  } catch {
    return "";
  }
}
