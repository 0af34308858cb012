/**
 * Which processes belong to a command, and ending all of them.
 *
 * A process belongs to it when it is in its group or session, carries its nonce, is a child of one that belongs, or
 * belonged at an earlier look. A group number alone proves nothing once its leader is gone: pids are given out anew.
 *
 * What a failure leaves behind: a process the system does not let us signal, or one that never leaves the kernel,
 * stays; ending is given up after a bounded time.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { nonceVariable } from "./performer-job.ts";
import { carries, type ProcessRow, readProcessTable } from "./process-table.ts";

/** A process group and the start time of the process it is named for. */
export interface CommandGroup {
  readonly pgid: number;
  readonly start: string;
}

export interface CommandMark {
  readonly group: CommandGroup | null;
  readonly nonce: string;
}

/** One look: the living processes of the command, this one never among them. */
export type FindMembers = () => readonly ProcessRow[];

/** `watchedFromStart`: the asker started the group and has looked ever since, so that its number is still its own. */
export function memberFinder(mark: CommandMark, watchedFromStart: boolean, self = process.pid): FindMembers {
  let members = new Set<string>();
  // A process without the nonce never gains it: an environment is inherited. So each is asked once.
  let strangers = new Set<string>();
  return () => {
    const rows = readProcessTable();
    const asked = new Set<string>();
    const found = new Map<number, ProcessRow>();
    for (const row of rows) {
      if (row.pid === self || row.dead) continue;
      const name = nameOf(row);
      const isMarked = members.has(name) || (!strangers.has(name) && carries(row.pid, nonceVariable, mark.nonce));
      if (isMarked) found.set(row.pid, row);
      else if (isMarked === false) asked.add(name);
    }
    if (mark.group !== null && isOurs(mark.group, rows, found, watchedFromStart))
      for (const row of rows)
        if (row.group === mark.group.pgid || row.session === mark.group.pgid) add(found, row, self);
    addDescendants(found, rows, self);
    members = new Set([...found.values()].map(nameOf));
    strangers = asked;
    return [...found.values()];
  };
}

function isOurs(
  group: CommandGroup,
  rows: readonly ProcessRow[],
  marked: ReadonlyMap<number, ProcessRow>,
  watchedFromStart: boolean,
): boolean {
  const leader = rows.find((row) => row.pid === group.pgid);
  if (leader !== undefined) return leader.start === group.start;
  return watchedFromStart || [...marked.values()].some((row) => row.group === group.pgid);
}

function addDescendants(found: Map<number, ProcessRow>, rows: readonly ProcessRow[], self: number): void {
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const row of rows) if (found.has(row.parent)) add(found, row, self);
  }
}

function add(found: Map<number, ProcessRow>, row: ProcessRow, self: number): void {
  if (row.pid !== self && !row.dead) found.set(row.pid, row);
}

/** Pid and start: one process, for good. */
export function nameOf(row: { readonly pid: number; readonly start: string }): string {
  return `${row.pid}:${row.start}`;
}

const lookEveryMs = 20;
const endingMsMax = 5000;

/**
 * Asks every member to end (SIGTERM), gives them `graceMs`, then ends them (SIGKILL) until two looks in a row find
 * none. Returns the names of all that were found living. Calling it again is harmless.
 */
export async function endMembers(mark: CommandMark, find: FindMembers, graceMs: number): Promise<ReadonlySet<string>> {
  const met = new Set<string>();
  const look = (): readonly ProcessRow[] => {
    let rows = find();
    // One look is not atomic: a child born during it can be missed.
    if (rows.length === 0) rows = find();
    for (const row of rows) met.add(nameOf(row));
    return rows;
  };
  let rows = look();
  signal(mark, rows, "SIGTERM");
  const begun = performance.now();
  while (rows.length > 0 && performance.now() - begun < graceMs) {
    await sleep(lookEveryMs);
    rows = look();
  }
  while (rows.length > 0 && performance.now() - begun < graceMs + endingMsMax) {
    signal(mark, rows, "SIGKILL");
    await sleep(lookEveryMs);
    rows = look();
  }
  return met;
}

function signal(mark: CommandMark, rows: readonly ProcessRow[], name: "SIGTERM" | "SIGKILL"): void {
  // The group at once, so that none of it can fork away between two single signals.
  const pgid = mark.group?.pgid;
  if (pgid !== undefined && rows.some((row) => row.group === pgid)) send(-pgid, name);
  for (const row of rows) if (row.group !== pgid) send(row.pid, name);
}

function send(target: number, name: NodeJS.Signals): void {
  try {
    process.kill(target, name);
  } catch {
    // Gone in between, or not ours to signal: the next look tells.
  }
}
