/** Process identity: which machine, boot and namespace this is, who started us, who is still alive. */
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import type { ProcessIdentity } from "../core/owner.ts";
import { type Processes, type ProcessFacts, untold } from "./process-facts.ts";
import { processesElsewhere } from "./processes-elsewhere.ts";
import { shortSha256 } from "./short-hash.ts";

export type { Processes, ProcessFacts } from "./process-facts.ts";

export function systemProcesses(): Processes {
  if (process.platform !== "linux") return processesElsewhere(process.platform);
  let place: ProcessIdentity | null = null;
  return {
    look: lookInProc,
    get place() {
      place ??= linuxPlace();
      return place;
    },
  };
}

/** The pid's identity as an owner would record it, or null when it is gone or not told. */
export function identityOf(processes: Processes, pid: number): ProcessIdentity | null {
  const facts = processes.look(pid);
  return facts === null || facts.dead || facts.start === "" ? null : { ...processes.place, pid, start: facts.start };
}

const shells = new Set(["sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox", "pwsh", "powershell", "cmd"]);
const wrappers = new Set([
  "env",
  "timeout",
  "nice",
  "nohup",
  "setsid",
  "stdbuf",
  "sudo",
  "npm",
  "npx",
  "xargs",
  "make",
  "script",
  "strace",
]);
/** Scripts of ours: a node that runs one of these is never the host. */
const ownScript = /(^|[\\/])(dist[\\/](atlas|verbs)\.cjs|bin[\\/]atlas)$/;
const ancestorsMax = 64;

/**
 * The host's process: the one `CLAUDE_PID` names if it is an ancestor, else the nearest ancestor that is neither
 * pid 1, nor a shell, nor a wrapper, nor our own node. Null when there is none.
 */
export function hostProcess(processes: Processes, self: number, claimedPid: string | undefined): ProcessFacts | null {
  const claimed = claimedPid !== undefined && /^\d{1,10}$/.test(claimedPid) ? Number(claimedPid) : null;
  let nearest: ProcessFacts | null = null;
  let pid = processes.look(self)?.parent ?? 0;
  for (let depth = 0; depth < ancestorsMax && pid > 1; depth += 1) {
    const facts = processes.look(pid);
    if (facts === null || facts.start === "") break;
    if (facts.pid === claimed) return facts;
    if (nearest === null && !isWrapper(facts)) nearest = facts;
    if (nearest !== null && claimed === null) return nearest;
    pid = facts.parent;
  }
  return nearest;
}

function isWrapper(facts: ProcessFacts): boolean {
  const name = facts.name.toLowerCase().replace(/\.exe$/, "");
  if (shells.has(name) || wrappers.has(name)) return true;
  const called = basename(facts.argv[0] ?? "")
    .replace(/^-/, "")
    .toLowerCase();
  if (shells.has(called) || wrappers.has(called)) return true;
  const script = facts.argv.slice(1).find((word) => !word.startsWith("-"));
  return script !== undefined && ownScript.test(script);
}

function lookInProc(pid: number): ProcessFacts | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const open = stat.indexOf("(");
    const close = stat.lastIndexOf(")");
    const fields = stat.slice(close + 2).split(" ");
    const state = fields[0] ?? "X";
    let argv: string[] = [];
    try {
      argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, 32);
    } catch {
      // Another user's process: its name must do.
    }
    return {
      pid,
      parent: Number(fields[1]),
      start: fields[19] ?? "",
      name: stat.slice(open + 1, close),
      argv,
      dead: state === "Z" || state === "X" || state === "x",
    };
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    return code === "ENOENT" || code === "ESRCH" ? null : untold(pid);
  }
}

/** Start time of the process that has `pid`; null: there is none, or a zombie. Empty: not told. */
export function livingStart(processes: Processes, pid: number | null): string | null {
  const facts = pid === null ? null : processes.look(pid);
  return facts === null || facts.dead ? null : facts.start;
}

function linuxPlace(): ProcessIdentity {
  return {
    machine: hashed(firstText(["/etc/machine-id", "/var/lib/dbus/machine-id"])),
    boot: firstText(["/proc/sys/kernel/random/boot_id"]),
    namespace: attempt(() => readlinkSync("/proc/self/ns/pid")),
    uid: process.getuid?.() ?? null,
    pid: null,
    start: null,
  };
}

function firstText(paths: readonly string[]): string | null {
  for (const path of paths) {
    const text = attempt(() => readFileSync(path, "utf8").trim());
    if (text !== null && text !== "" && text !== "uninitialized") return text;
  }
  return null;
}

function hashed(text: string | null): string | null {
  return text === null ? null : shortSha256(text);
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
