/** A command that already has its process, but has not begun: its shell waits for one word on a pipe. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import type { Writable } from "node:stream";
import type { CommandEnding, UnstartedWhy } from "./command-ending.ts";
import { type CommandGroup, nameOf } from "./command-members.ts";
import { type CommandJob, commandEnvironment } from "./performer-job.ts";
import { systemProcesses } from "./processes.ts";

export interface GatedCommand {
  readonly kind: "gated";
  /** Its own process group and session; null where it can have none before it begins (Windows). */
  readonly group: CommandGroup | null;
  /** Name of the shell's process; null with the group. */
  readonly name: string | null;
  /** Lets it begin. */
  go(): void;
  /** Takes the pipe away: a shell still waiting ends without having run a byte. On Windows, ends what has begun. */
  drop(): void;
  /** Tells how the shell ended, once, at once if it has. */
  onEnd(tell: (ending: CommandEnding) => void): void;
  /** Resolves when the shell's end was noticed, at the latest after `timeoutMs`. */
  ended(timeoutMs: number): Promise<void>;
}

/** `$1` is the command: it stands in no other shell text. Its own shell replaces this one, so pid and group stay. */
const gate =
  'read -r atlas_go <&3 && [ "$atlas_go" = go ] || exit 125; exec 3<&-; unset atlas_go; exec /bin/sh -c "$1"';

/** Starts the shell in a new session, stdin empty, output to `logFd`. Never throws: what fails is `unstarted`. */
export async function beginGated(
  job: CommandJob,
  logFd: number,
): Promise<GatedCommand | { readonly kind: "unstarted"; readonly why: UnstartedWhy }> {
  // Node says ENOENT for a missing folder and a missing shell alike.
  if (!isFolder(job.cwd)) return { kind: "unstarted", why: "folder" };
  if (process.platform === "win32") return gatedOnWindows(job, logFd);
  let child: ChildProcess;
  try {
    child = spawn("/bin/sh", ["-c", gate, "sh", job.text], {
      cwd: job.cwd,
      env: commandEnvironment(job),
      detached: true,
      stdio: ["ignore", logFd, logFd, "pipe"],
    });
  } catch {
    return { kind: "unstarted", why: "process" };
  }
  const end = endOf(child);
  const started = await new Promise<boolean>((resolve) => {
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
  });
  const pid = child.pid;
  const start = pid === undefined ? undefined : systemProcesses().look(pid)?.start;
  if (!started || pid === undefined || start === undefined || start === "")
    return { kind: "unstarted", why: "process" };
  const pipe = child.stdio[3] as Writable;
  pipe.on("error", () => {});
  return {
    kind: "gated",
    group: { pgid: pid, start },
    name: nameOf({ pid, start }),
    go: () => pipe.end("go\n"),
    drop: () => pipe.destroy(),
    ...end,
  };
}

/** There is no pipe to wait on in `cmd`, and no process group: the process is made when "go" comes. */
function gatedOnWindows(job: CommandJob, logFd: number): GatedCommand {
  let tell: (ending: CommandEnding) => void = () => {};
  let end: Pick<GatedCommand, "onEnd" | "ended"> | null = null;
  let pid: number | undefined;
  return {
    kind: "gated",
    group: null,
    name: null,
    go: () => {
      const child = spawn(process.env.ComSpec ?? "cmd.exe", ["/d", "/s", "/c", `"${job.text}"`], {
        cwd: job.cwd,
        env: commandEnvironment(job),
        stdio: ["ignore", logFd, logFd],
        windowsVerbatimArguments: true,
        windowsHide: true,
      });
      pid = child.pid;
      child.once("error", () => tell({ ending: "unstarted", why: "process" }));
      end = endOf(child);
      end.onEnd((ending) => tell(ending));
    },
    drop: () => {
      if (pid !== undefined) spawnSync("taskkill", treeKill(pid), { timeout: 10_000, windowsHide: true });
    },
    onEnd: (told) => {
      tell = told;
    },
    ended: async (timeoutMs) => end?.ended(timeoutMs),
  };
}

/** Words of `taskkill`: a process and all that it started, without being asked politely. */
export function treeKill(pid: number): readonly string[] {
  return ["/pid", String(pid), "/t", "/f"];
}

function endOf(child: ChildProcess): Pick<GatedCommand, "onEnd" | "ended"> {
  // "exit", not "close": a descendant that holds something open must not prolong the command.
  const ended = new Promise<CommandEnding>((resolve) => {
    child.once("exit", (code, signal) =>
      resolve(signal === null ? { ending: "exited", code: code ?? 0 } : { ending: "signalled", signal }),
    );
  });
  return {
    onEnd: (tell) => {
      ended.then(tell);
    },
    ended: async (timeoutMs) => {
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([
        ended,
        new Promise((resolve) => {
          timer = setTimeout(resolve, timeoutMs);
        }),
      ]);
      clearTimeout(timer);
    },
  };
}

function isFolder(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
