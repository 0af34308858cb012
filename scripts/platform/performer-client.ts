/**
 * The command line's side of a performer: starting it, letting it begin, waiting for its result, and ending what a
 * dead one left.
 *
 * What a failure leaves behind: killed before `go`, the performer notices the closed line and leaves without having
 * begun; killed after it, the performer goes on and its result is found by whoever asks next.
 */
import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { dirname, parse } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { couldLive, liveness, type ProcessIdentity } from "../core/owner.ts";
import { EnvironmentFailure } from "../core/result.ts";
import { type CommandGroup, type CommandMark, endMembers, memberFinder } from "./command-members.ts";
import { removeQuietly } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { type CommandJob, writeJob } from "./performer-job.ts";
import { firstLine, parseWords } from "./performer-line.ts";
import { type CommandResult, type CommandTicket, pollResult } from "./performer-result.ts";
import { livingStart, type Processes } from "./processes.ts";

export interface PreparedPerformer {
  readonly performer: ProcessIdentity;
  /** Null when nothing could be started (the result will say `unstarted`), and on Windows. */
  readonly group: CommandGroup | null;
  /** To be recorded with the began line: without it no result is believed. */
  readonly ticket: CommandTicket;
  /** Lets the command begin: call it when the began line is durable. Handed over when it returns. */
  go(): void;
  /** Sends the performer away; the command never runs. */
  giveUp(): void;
}

export interface Preparation {
  readonly fs: FileSystem;
  /** Program and arguments, absolute; the job's path is appended. */
  readonly entry: readonly [string, ...string[]];
  readonly job: CommandJob;
  /** Absolute; must not exist. The performer removes it. */
  readonly jobPath: string;
  /** Default 10 s. */
  readonly timeoutMs?: number;
}

const graceMs = 2000;
const handshakeMs = 10_000;
/** A preload or a foreign repository of ours must not reach the performer; the command gets its own environment. */
const unwanted = /^(NODE_OPTIONS|NODE_PATH|GIT_.*)$/;

/**
 * Writes the job, starts a detached performer and waits until it holds a process for the command that has not begun.
 * Throws EnvironmentFailure `disk.*`, or `command.unprepared` when no performer says who it is in time.
 */
export async function preparePerformer(preparation: Preparation): Promise<PreparedPerformer> {
  const { fs, entry, job, jobPath } = preparation;
  writeJob(fs, jobPath, job);
  const child = spawn(entry[0], [...entry.slice(1), jobPath], {
    // Its stay must not keep anybody's folder busy.
    cwd: parse(dirname(jobPath)).root,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !unwanted.test(name))),
    detached: true,
    windowsHide: true,
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const line = child.stdio[3] as unknown as Socket;
  const stop = new AbortController();
  child.once("error", () => stop.abort());
  line.on("error", () => {});
  const timer = setTimeout(() => stop.abort(), preparation.timeoutMs ?? handshakeMs);
  const said = await firstLine(line, stop.signal);
  clearTimeout(timer);
  const words = said === null ? { failed: "it did not say who it is" } : parseWords(said);
  if ("failed" in words) {
    line.destroy();
    child.kill("SIGKILL");
    removeQuietly(fs, jobPath);
    throw new EnvironmentFailure("command.unprepared", `no performer for the command: ${words.failed}`, "atlas doctor");
  }
  child.unref();
  line.unref();
  return {
    performer: words.performer,
    group: words.group,
    ticket: { nonce: job.nonce, seal: words.seal },
    // On a local socket a few bytes are in the system's hands when this returns.
    go: () => {
      line.end("go\n");
    },
    giveUp: () => {
      line.destroy();
    },
  };
}

/**
 * False only on proof that the performer is gone. Where machine, boot, namespace and user are as they were, a pid
 * with its start time is proof; else `liveness` decides, and `exclusive` (one container a folder, or a human's
 * take-over) lets a stranger count as gone.
 */
export function isPerformerAlive(processes: Processes, performer: ProcessIdentity, exclusive = false): boolean {
  const startOfPid = livingStart(processes, performer.pid);
  const here = processes.place;
  if (isSamePlace(performer, here)) return couldLive(performer, startOfPid);
  return liveness({ ...performer, host: "", session: null }, { here, startOfPid, exclusive }) !== "gone";
}

/**
 * Ends what a dead performer left of its command: its group, only if the leader's start time still matches or a
 * member carries the nonce, and every process that carries it. Resolves to how many were met. Doing it twice, or
 * by two at once, is doing it once.
 */
export async function endRemains(mark: CommandMark): Promise<number> {
  return (await endMembers(mark, memberFinder(mark, false), graceMs)).size;
}

/** What the began line recorded, and where the result will be. */
export interface BegunCommand {
  readonly performer: ProcessIdentity;
  readonly group: CommandGroup | null;
  readonly ticket: CommandTicket;
  readonly resultPath: string;
}

export type Settled =
  | { readonly kind: "running" }
  | { readonly kind: "result"; readonly result: CommandResult }
  /** The performer is dead and left no result of its own. `refused`: what lay in its place instead. */
  | { readonly kind: "lost"; readonly ended: number; readonly refused: string | null };

export interface Asking {
  readonly fs: FileSystem;
  readonly processes: Processes;
  readonly command: BegunCommand;
  readonly exclusive?: boolean;
}

/** One look: the result, if there is one; else whether it can still come; else ends the remains and says `lost`. */
export async function settlePerformer(asking: Asking): Promise<Settled> {
  const { fs, processes, command, exclusive } = asking;
  const isAlive = isPerformerAlive(processes, command.performer, exclusive);
  // Looked for after the performer: one that wrote and left in between is not lost.
  const polled = pollResult(fs, command.resultPath, command.ticket);
  if (polled.kind === "result") return polled;
  if (isAlive) return { kind: "running" };
  // A group's number means nothing after a reboot or in another container.
  const group = isSamePlace(command.performer, processes.place) ? command.group : null;
  const ended = await endRemains({ group, nonce: command.ticket.nonce });
  return { kind: "lost", ended, refused: polled.kind === "refused" ? polled.why : null };
}

/** Settles every `everyMs` until there is more to say than `running`, or `waitMs` have passed (0: one look). */
export async function waitForResult(
  asking: Asking & { readonly waitMs: number; readonly everyMs: number },
): Promise<Settled> {
  const begun = performance.now();
  for (;;) {
    const settled = await settlePerformer(asking);
    const leftMs = asking.waitMs - (performance.now() - begun);
    if (settled.kind !== "running" || leftMs <= 0) return settled;
    await sleep(Math.min(asking.everyMs, leftMs));
  }
}

function isSamePlace(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.machine === b.machine && a.boot === b.boot && a.namespace === b.namespace && a.uid === b.uid;
}
