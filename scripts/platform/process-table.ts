/** Every process of this machine at one look, as far as the system tells: group, session, mark, memory. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Null where the system does not tell. */
  readonly session: number | null;
  /** As in `ProcessFacts`: pid and start together name one process for good. */
  readonly start: string;
  /** Ended, and only waiting for its parent to notice. */
  readonly dead: boolean;
}

const hasProc = process.platform === "linux";

/** All processes that could be read; empty where the system has neither `/proc` nor `ps`. */
export function readProcessTable(): readonly ProcessRow[] {
  if (process.platform === "win32") return [];
  return hasProc ? tableFromProc() : tableFromPs();
}

/**
 * Whether the process was started with exactly `variable=value` in its environment; null while that cannot be told:
 * it is empty in the moment of an exec. Linux only, elsewhere false.
 */
export function carries(pid: number, variable: string, value: string): boolean | null {
  const environment = hasProc ? attempt(() => readFileSync(`/proc/${pid}/environ`)) : null;
  if (environment === null) return false;
  if (environment.length === 0) return null;
  const wanted = Buffer.from(`${variable}=${value}`);
  for (let at = environment.indexOf(wanted); at !== -1; at = environment.indexOf(wanted, at + 1)) {
    const after = environment[at + wanted.length];
    if ((at === 0 || environment[at - 1] === 0) && (after === undefined || after === 0)) return true;
  }
  return false;
}

/** Proportional memory, else resident memory, of one process; null when it is gone or the system does not tell. */
export function memoryBytesOf(pid: number): number | null {
  if (!hasProc) return null;
  const proportional = kilobytes(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m);
  return proportional ?? kilobytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB/m);
}

function kilobytes(path: string, shape: RegExp): number | null {
  const match = shape.exec(attempt(() => readFileSync(path, "latin1")) ?? "");
  return match === null ? null : Number(match[1]) * 1024;
}

function tableFromProc(): readonly ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of attempt(() => readdirSync("/proc")) ?? []) {
    if (!/^\d+$/.test(name)) continue;
    const stat = attempt(() => readFileSync(`/proc/${name}/stat`, "latin1"));
    if (stat === null) continue;
    // The program's name may hold blanks and parentheses: what follows the last one is fixed.
    const [state, parent, group, session, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    rows.push({
      pid: Number(name),
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      start: rest[15] ?? "",
      dead: state === "Z" || state === "X" || state === "x",
    });
  }
  return rows;
}

function tableFromPs(): readonly ProcessRow[] {
  const done = spawnSync("ps", ["-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="], {
    encoding: "utf8",
    timeout: 5000,
    maxBuffer: 16 * 1024 * 1024,
    env: { PATH: "/bin:/usr/bin", LC_ALL: "C" },
  });
  return done.status === 0 ? parsePsTable(done.stdout) : [];
}

/** Lines of `pid ppid pgid stat Www Mmm dd hh:mm:ss yyyy`; others are left out. */
export function parsePsTable(text: string): readonly ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const line of text.split("\n")) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s*$/.exec(line);
    if (match === null) continue;
    rows.push({
      pid: Number(match[1]),
      parent: Number(match[2]),
      group: Number(match[3]),
      session: null,
      start: (match[5] ?? "").replace(/\s+/g, " "),
      dead: (match[4] ?? "").startsWith("Z"),
    });
  }
  return rows;
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
