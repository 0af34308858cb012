/**
 * Process identity where there is no `/proc`: `ps` and `sysctl` on macOS and the BSDs, one CIM query on Windows. What
 * these programs print is data; one that is missing, late or odd gives "not told", never "gone".
 */
import { spawnSync } from "node:child_process";
import { basename } from "node:path";
import type { ProcessIdentity } from "../core/owner.ts";
import { type Processes, type ProcessFacts, untold } from "./process-facts.ts";
import { shortSha256 } from "./short-hash.ts";

/** How a program ended; `status` is null when it could not be started or did not end in time. */
export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
}

export type RunProgram = (program: string, args: readonly string[], timeoutMs: number) => Ran;

const lookTimeoutMs = 2000;
/** PowerShell alone takes a second to start on a slow machine. */
const tableTimeoutMs = 8000;
const tableAgeMsMax = 1000;

export function processesElsewhere(platform: NodeJS.Platform, run: RunProgram = runProgram): Processes {
  let place: ProcessIdentity | null = null;
  return {
    look: platform === "win32" ? windowsLook(run) : (pid) => lookWithPs(run, pid),
    get place() {
      place ??= placeOf(platform, run);
      return place;
    },
  };
}

/** The start time has whole seconds here. */
function lookWithPs(run: RunProgram, pid: number): ProcessFacts | null {
  const ran = run("ps", ["-o", "ppid=,stat=,lstart=,command=", "-p", String(pid)], lookTimeoutMs);
  // It ends with 1 and says nothing for a pid that nobody has.
  if (ran.status === 1 && ran.stdout.trim() === "") return null;
  return (ran.status === 0 ? parsePs(pid, ran.stdout) : null) ?? untold(pid);
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

/** Every process at once: each start of PowerShell costs more than the whole table. The last line says it is whole. */
const tableQuery =
  "Get-CimInstance Win32_Process | ForEach-Object " +
  '{ "$($_.ProcessId)|$($_.ParentProcessId)|$($_.CreationDate.ToUniversalTime().Ticks)|$($_.Name)|$($_.CommandLine)" }; "end"';

function windowsLook(run: RunProgram): Processes["look"] {
  let table: ReadonlyMap<number, ProcessFacts> | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  const read = (): void => {
    const ran = run("powershell", ["-NoProfile", "-NonInteractive", "-Command", tableQuery], tableTimeoutMs);
    table = ran.status === 0 ? parseWindowsTable(ran.stdout) : null;
    readAtMs = performance.now();
  };
  return (pid) => {
    const isOld = performance.now() - readAtMs > tableAgeMsMax;
    // One that is not in a table from before may have begun since.
    if (isOld || table?.has(pid) === false) read();
    return table === null ? untold(pid) : (table.get(pid) ?? null);
  };
}

/** Rows of `pid|parent|ticks|name|command line`; null when the table is not whole. */
export function parseWindowsTable(text: string): ReadonlyMap<number, ProcessFacts> | null {
  const lines = text.trimEnd().split(/\r?\n/);
  if (lines.pop()?.trim() !== "end") return null;
  const table = new Map<number, ProcessFacts>();
  for (const line of lines) {
    // A command line may hold line ends: what is no row goes on with the one before.
    const match = /^(\d+)\|(\d+)\|(\d*)\|([^|]*)\|(.*)$/.exec(line);
    if (match === null) continue;
    const [, pid, parent, start = "", name = "", command = ""] = match;
    table.set(Number(pid), {
      pid: Number(pid),
      parent: Number(parent),
      start,
      name,
      argv: words(command),
      dead: false,
    });
  }
  return table.size === 0 ? null : table;
}

/** Blanks part words outside double quotes. */
function words(command: string): readonly string[] {
  return (command.match(/(?:"[^"]*"|[^\s"])+/g) ?? []).map((word) => word.replaceAll('"', ""));
}

/** Windows has an id for its machine, but containers share it: there nobody is proved gone. */
function placeOf(platform: NodeJS.Platform, run: RunProgram): ProcessIdentity {
  const ask = (name: string): string | null => {
    if (platform !== "darwin") return null;
    const { status, stdout } = run("/usr/sbin/sysctl", ["-n", name], lookTimeoutMs);
    return status === 0 && stdout.trim() !== "" ? stdout.trim() : null;
  };
  const machine = ask("kern.uuid");
  return {
    machine: machine === null ? null : shortSha256(machine),
    boot: ask("kern.bootsessionuuid"),
    namespace: null,
    uid: process.getuid?.() ?? null,
    pid: null,
    start: null,
  };
}

/** `ps` prints times of the zone it is told: a traveller's processes must not begin anew. */
function runProgram(program: string, args: readonly string[], timeoutMs: number): Ran {
  const done = spawnSync(program, args, {
    encoding: "utf8",
    timeout: timeoutMs,
    windowsHide: true,
    maxBuffer: 16 * 1024 * 1024,
    ...(process.platform === "win32" ? {} : { env: { PATH: "/bin:/usr/bin", LC_ALL: "C", TZ: "UTC0" } }),
  });
  return { status: done.status, stdout: done.stdout ?? "" };
}
