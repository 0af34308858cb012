/** Process identity: which machine, boot and namespace this is, who started us, who is still alive. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import type { ProcessIdentity } from "../core/owner.ts";

export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  readonly start: string;
  /** Base name of the program. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly dead: boolean;
}

export interface Processes {
  /** Facts about a pid; null when there is no such process. A zombie is `dead`. */
  look(pid: number): ProcessFacts | null;
  /** Machine, boot, namespace and uid of this process; pid and start are null. */
  readonly place: ProcessIdentity;
}

export function systemProcesses(): Processes {
  const linux = process.platform === "linux";
  let place: ProcessIdentity | null = null;
  return {
    look: linux ? lookInProc : lookWithPs,
    get place() {
      place ??= linux ? linuxPlace() : otherPlace();
      return place;
    },
  };
}

/** The pid's identity as an owner would record it, or null when it is gone. */
export function identityOf(processes: Processes, pid: number): ProcessIdentity | null {
  const facts = processes.look(pid);
  return facts === null || facts.dead ? null : { ...processes.place, pid, start: facts.start };
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
    if (facts === null) break;
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
  } catch {
    return null;
  }
}

/** macOS and the BSDs; the start time has whole seconds there. */
function lookWithPs(pid: number): ProcessFacts | null {
  if (process.platform === "win32") return lookOnWindows(pid);
  const done = spawnSync("ps", ["-o", "ppid=,stat=,lstart=,command=", "-p", String(pid)], {
    encoding: "utf8",
    timeout: 2000,
    env: { PATH: "/bin:/usr/bin", LC_ALL: "C" },
  });
  return done.status === 0 ? parsePs(pid, done.stdout) : null;
}

/** `ppid stat Www Mmm dd hh:mm:ss yyyy command…` */
export function parsePs(pid: number, text: string): ProcessFacts | null {
  const match = /^\s*(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/m.exec(text);
  if (match === null) return null;
  const argv = (match[4] ?? "").trim().split(/\s+/);
  return {
    pid,
    parent: Number(match[1]),
    start: (match[3] ?? "").replace(/\s+/g, " "),
    name: basename(argv[0] ?? ""),
    argv,
    dead: (match[2] ?? "").startsWith("Z"),
  };
}

function lookOnWindows(pid: number): ProcessFacts | null {
  const query = `Get-CimInstance Win32_Process -Filter "ProcessId=${pid}" | ForEach-Object { "$($_.ParentProcessId)|$($_.CreationDate.Ticks)|$($_.Name)|$($_.CommandLine)" }`;
  const done = spawnSync("powershell", ["-NoProfile", "-NonInteractive", "-Command", query], {
    encoding: "utf8",
    timeout: 8000,
    windowsHide: true,
  });
  const [parent, start, name, ...rest] = (done.stdout ?? "").trim().split("|");
  if (done.status !== 0 || parent === undefined || start === undefined || name === undefined) return null;
  return { pid, parent: Number(parent), start, name, argv: rest.join("|").split(/\s+/), dead: false };
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

function otherPlace(): ProcessIdentity {
  const mac = process.platform === "darwin";
  const ask = (name: string): string | null => {
    const done = spawnSync("/usr/sbin/sysctl", ["-n", name], { encoding: "utf8", timeout: 2000 });
    const text = (done.stdout ?? "").trim();
    return done.status === 0 && text !== "" ? text : null;
  };
  return {
    machine: mac ? hashed(ask("kern.uuid")) : null,
    boot: mac ? ask("kern.bootsessionuuid") : null,
    namespace: null,
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
  return text === null ? null : createHash("sha256").update(text).digest("hex");
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
