/**
 * Runs one frozen command, detached from whoever asked: in a session of its own, deaf to SIGHUP, alive after its
 * parent's death. It writes a log and a result, never a ledger.
 *
 * What a failure leaves behind: before "go" nothing but an empty log, the command has not begun. Killed after "go":
 * the command's processes and a partial log, no result; the client ends the processes and says `lost`. The result
 * appears whole, after the log is durable and the last process of the command has ended, or not at all.
 */
import { randomBytes } from "node:crypto";
import type { CommandEnding } from "./command-ending.ts";
import { type CommandLog, finishLog, logBytes, openLog, secretsOf } from "./command-log.ts";
import { endMembers, type FindMembers, memberFinder } from "./command-members.ts";
import { removeQuietly } from "./files.ts";
import { realFileSystem as fs } from "./fs.ts";
import { beginGated, type GatedCommand } from "./gated-command.ts";
import { sha256 } from "./hash.ts";
import { type CommandJob, commandEnvironment, readJob } from "./performer-job.ts";
import { openParentLine } from "./performer-line.ts";
import { writeResult } from "./performer-result.ts";
import { memoryBytesOf } from "./process-table.ts";
import { identityOf, systemProcesses } from "./processes.ts";

/** Output can grow by gigabytes a second: it is looked at more often than memory. */
const lookEveryMs = 50;
const looksPerMemoryLook = 5;
/** How long the processes of an ended or timed-out command may tidy up after SIGTERM. */
const graceMs = 2000;
const lastBreathMs = 5000;

/**
 * Performs the job in `jobPath` and removes that file. Says who it is on descriptor 3, begins the command only when
 * "go" comes back there, and resolves when the result is durable (or nobody wants it: no result then). Throws
 * UsageError without a parent on descriptor 3, EnvironmentFailure when log or result cannot be written.
 */
export async function performCommand(jobPath: string): Promise<void> {
  const parent = openParentLine();
  process.on("SIGHUP", () => {});
  const asked = new AbortController();
  for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => asked.abort());
  const read = readJob(fs, jobPath);
  removeQuietly(fs, jobPath);
  if (!read.ok) return parent.fail(read.why);
  const { job } = read;
  const self = identityOf(systemProcesses(), process.pid);
  if (self === null) return parent.fail("this process cannot see itself");
  const log = openLogOrNull(job);
  const command = log === null ? null : await beginGated(job, log.writeFd);
  const group = command?.kind === "gated" ? command.group : null;
  const key = randomBytes(32).toString("hex");
  const isWanted = await parent.agree({ performer: self, group, seal: sha256(key) }, asked.signal);
  const mark = { group, nonce: job.nonce };
  const find = memberFinder(mark, true);
  if (!isWanted) {
    if (command?.kind === "gated") command.drop();
    await endMembers(mark, find, 0);
    return;
  }
  if (log === null) return conclude(job, key, null, { ending: "unstarted", why: "log" }, 0, null, 0);
  if (command === null || command.kind === "unstarted")
    return conclude(job, key, log, { ending: "unstarted", why: command?.why ?? "process" }, 0, null, 0);

  const begun = performance.now();
  let watched: Watched | null = null;
  let met: ReadonlySet<string> = new Set();
  try {
    command.go();
    watched = await watch(job, command, log, find, asked.signal);
  } finally {
    // Also when watching itself broke: nothing of the command outlives us.
    command.drop();
    met = await endMembers(mark, find, watched?.isUrgent === true ? 0 : graceMs);
  }
  await command.ended(lastBreathMs);
  const ms = Math.round(watched.endedAt - begun);
  const leftovers = [...met].filter((name) => name !== command.name).length;
  const overflowed = logBytes(fs, log) > job.outputBytes;
  const ending: CommandEnding = overflowed ? { ending: "output", limitBytes: job.outputBytes } : watched.ending;
  conclude(job, key, log, ending, ms, watched.peakBytes, leftovers);
}

function openLogOrNull(job: CommandJob): CommandLog | null {
  try {
    return openLog(fs, job.log);
  } catch {
    return null;
  }
}

interface Watched {
  readonly ending: CommandEnding;
  readonly peakBytes: number | null;
  readonly endedAt: number;
  /** It is eating the machine: no time to tidy up. */
  readonly isUrgent: boolean;
}

function watch(
  job: CommandJob,
  command: GatedCommand,
  log: CommandLog,
  find: FindMembers,
  asked: AbortSignal,
): Promise<Watched> {
  const begun = performance.now();
  let peakBytes: number | null = null;
  let looks = 0;
  return new Promise((resolve, reject) => {
    const done = (ending: CommandEnding, isUrgent = false): void => {
      clearInterval(timer);
      resolve({ ending, peakBytes, endedAt: performance.now(), isUrgent });
    };
    const exceeded = (): CommandEnding | null => {
      if (logBytes(fs, log) > job.outputBytes) return { ending: "output", limitBytes: job.outputBytes };
      if (looks % looksPerMemoryLook === 0) peakBytes = larger(peakBytes, memoryOf(find));
      looks += 1;
      if ((peakBytes ?? 0) > job.memoryBytes) return { ending: "memory", limitBytes: job.memoryBytes };
      return performance.now() - begun >= job.timeMs ? { ending: "timed-out", limitMs: job.timeMs } : null;
    };
    const look = (): void => {
      try {
        const ending = exceeded();
        if (ending !== null) done(ending, ending.ending !== "timed-out");
      } catch (error) {
        clearInterval(timer);
        reject(error);
      }
    };
    const timer = setInterval(look, lookEveryMs);
    command.onEnd((ending) => done(ending));
    asked.addEventListener("abort", () => done({ ending: "killed" }));
    if (asked.aborted) done({ ending: "killed" });
    else look();
  });
}

function memoryOf(find: FindMembers): number | null {
  let sum: number | null = null;
  for (const row of find()) {
    const bytes = memoryBytesOf(row.pid);
    if (bytes !== null) sum = (sum ?? 0) + bytes;
  }
  return sum;
}

function larger(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}

function conclude(
  job: CommandJob,
  key: string,
  log: CommandLog | null,
  ending: CommandEnding,
  ms: number,
  peakBytes: number | null,
  leftovers: number,
): void {
  const secrets = secretsOf({ ...process.env, ...commandEnvironment(job) });
  const kept =
    log === null ? { sha256: sha256(""), bytes: 0, tail: "" } : finishLog(fs, log, job.log, job.outputBytes, secrets);
  writeResult(fs, job.result, {
    v: 1,
    nonce: job.nonce,
    key,
    ...ending,
    ms,
    peakBytes,
    log: kept,
    leftovers: leftovers === 0 ? "none" : `killed ${leftovers}`,
  });
}
