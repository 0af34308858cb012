/** Which living processes belong to a world: those that were given its state folder. */
import { readdirSync, readFileSync } from "node:fs";
import type { CrashWorld } from "./crash-world.ts";

/** Those that do not leave within some seconds: whoever was sent away may need a moment. */
export function leftoverProcesses(world: CrashWorld): readonly string[] {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let look = 0; ; look += 1) {
    const found = processesOf(world);
    if (found.length === 0 || look > 200) return found;
    Atomics.wait(pause, 0, 0, 50);
  }
}

/** Their command lines. */
export function processesOf(world: CrashWorld): readonly string[] {
  const given = `\0XDG_STATE_HOME=${world.env.XDG_STATE_HOME}\0`;
  const found: string[] = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (!`\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(given)) continue;
      found.push(`process ${readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ").trim()}`);
    } catch {
      // Gone meanwhile, or another user's.
    }
  }
  return found.sort();
}
