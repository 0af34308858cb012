/**
 * The demo's side of a child that plays a host: hearing what it says, letting it go on, killing it, and ending
 * everything that carries the demo's mark.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { type CommandMark, endMembers, memberFinder } from "../platform/command-members.ts";
import { systemProcesses } from "../platform/processes.ts";
import { type HostLine, lineReader } from "./demo-lines.ts";
import type { DemoWorld } from "./demo-world.ts";

/** The other bundle of the demo, beside this one. */
export const hostProgram = join(__dirname, "demo-host.cjs");
const complaintCharsMax = 500;

type Said<S extends HostLine["say"]> = Extract<HostLine, { say: S }>;

export interface PlayedHost {
  readonly pid: number;
  /** By which it and all it started are found. */
  readonly mark: CommandMark;
  /**
   * The next line of that kind; lines before it go to `hear`. Throws what the child says went wrong, or how it ended
   * when it ends without having said it.
   */
  until<S extends HostLine["say"]>(say: S): Promise<Said<S>>;
  goOn(): void;
  /** SIGKILL; resolves to how the system says the process ended. */
  kill(): Promise<string>;
  /** How the process ended, once it has. */
  readonly ended: Promise<string>;
}

export interface HostOrder {
  readonly world: DemoWorld;
  readonly session: string;
  /** What the user wants; null: the user says nothing. */
  readonly packet: string | null;
  readonly hear: (line: HostLine) => void;
  readonly stop: AbortSignal;
}

/** Starts the child, in a process group of its own: a terminal's Ctrl-C is for the demo, which cleans up. */
export function playHost(order: HostOrder): PlayedHost {
  const { world, session, packet, hear, stop } = order;
  const { nonce } = world;
  const words = [hostProgram, session, ...(packet === null ? [] : [packet])];
  const child = spawn(process.execPath, words, {
    cwd: world.project,
    env: world.environment,
    detached: true,
    windowsHide: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const start = child.pid === undefined ? undefined : systemProcesses().look(child.pid)?.start;
  child.stdin.on("error", () => {});
  const lines: HostLine[] = [];
  let wake = (): void => {};
  const reader = lineReader((line) => {
    lines.push(JSON.parse(line) as HostLine);
    wake();
  });
  child.stdout.setEncoding("utf8").on("data", reader);
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    complaint = (complaint + piece).slice(-complaintCharsMax);
  });
  let over: string | null = null;
  const ended = endOf(child).then((how) => {
    over = how;
    wake();
    return how;
  });
  stop.addEventListener("abort", () => wake());
  return {
    pid: child.pid ?? 0,
    mark: { group: child.pid === undefined || start === undefined ? null : { pgid: child.pid, start }, nonce },
    ended,
    async until(say) {
      for (;;) {
        if (stop.aborted) throw stop.reason;
        const line = lines.shift();
        if (line?.say === "failed") throw new Error(`session ${session}: ${line.why}`);
        if (line?.say === say) return line as Said<typeof say>;
        if (line !== undefined) hear(line);
        else if (over !== null)
          throw new Error(`session ${session} ended (${over}) before it said "${say}" ${complaint}`.trim());
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    goOn: () => child.stdin.write("go on\n"),
    kill() {
      child.kill("SIGKILL");
      return ended;
    },
  };
}

/** `exit 0`, `SIGKILL`, or why it never began; its output has been read by then. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(signal ?? `exit ${code}`));
  });
}

/** Ends every process of these hosts, the detached ones too; resolves to how many were still there. */
export async function endAll(hosts: readonly PlayedHost[]): Promise<number> {
  const met = new Set<string>();
  for (const { mark, kill } of hosts) {
    for (const name of await endMembers(mark, memberFinder(mark, false), 0)) met.add(name);
    await kill();
  }
  return met.size;
}
