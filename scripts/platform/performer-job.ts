/**
 * What a performer is told to run: one JSON file, written by the command line, read once by the performer.
 *
 * The file holds the command's environment, secrets included: it is written for its owner only, and the performer
 * removes it as soon as it has read it. A kill in between leaves it in the run's own folder.
 */
import { constants } from "node:fs";
import { isAbsolute } from "node:path";
import { isWhole } from "./command-ending.ts";
import { closeQuietly, failure, readBounded, removeQuietly, writeAll } from "./files.ts";
import type { FileSystem } from "./fs.ts";

export interface CommandJob {
  readonly v: 1;
  /** Unguessable, new for every attempt: it marks every process of the command. */
  readonly nonce: string;
  /** For `/bin/sh -c`; at most 64 KiB of UTF-8, no NUL. */
  readonly text: string;
  /** Absolute, like `log` and `result`. */
  readonly cwd: string;
  readonly timeMs: number;
  readonly memoryBytes: number;
  readonly outputBytes: number;
  readonly log: string;
  readonly result: string;
  readonly environment: Readonly<Record<string, string>>;
}

export const nonceVariable = "ATLAS_COMMAND_NONCE";

const nonceShape = /^[A-Za-z0-9][A-Za-z0-9._-]{7,127}$/;
/** Linux refuses a single argument of 128 KiB. */
const textBytesMax = 64 * 1024;
/** Twice what Linux takes for arguments and environment together. */
const jobBytesMax = 4 * 1024 * 1024;
const variablesMax = 10_000;
const jobKeys = "cwd,environment,log,memoryBytes,nonce,outputBytes,result,text,timeMs,v";

export type ReadJob =
  | { readonly ok: true; readonly job: CommandJob }
  /** `why` names the field, never its value. */
  | { readonly ok: false; readonly why: string };

export function isNonce(value: unknown): value is string {
  return typeof value === "string" && nonceShape.test(value);
}

/**
 * Writes a new job file, mode 0600. Not synced: whoever reads it is started next, and gone after a power loss.
 * Throws EnvironmentFailure `disk.*`.
 */
export function writeJob(fs: FileSystem, path: string, job: CommandJob): void {
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
    const fd = fs.openSync(path, flags, 0o600);
    try {
      writeAll(fs, fd, Buffer.from(JSON.stringify(job), "utf8"));
    } catch (error) {
      removeQuietly(fs, path);
      throw error;
    } finally {
      closeQuietly(fs, fd);
    }
  } catch (error) {
    throw failure(error, path);
  }
}

/** Reads and checks a job file: a regular file, bounded, no unknown field. Never throws for what lies on disk. */
export function readJob(fs: FileSystem, path: string): ReadJob {
  const read = readBounded(fs, path, jobBytesMax);
  if (read.kind !== "file") return { ok: false, why: read.kind === "absent" ? "no job file" : `job file: ${read.why}` };
  let value: unknown;
  try {
    value = JSON.parse(read.bytes.toString("utf8"));
  } catch {
    return { ok: false, why: "job file: not JSON" };
  }
  return checkJob(value);
}

function checkJob(value: unknown): ReadJob {
  if (!isRecord(value)) return { ok: false, why: "job: not an object" };
  if (Object.keys(value).sort().join() !== jobKeys) return { ok: false, why: "job: other fields than a job has" };
  const bad = (field: string): ReadJob => ({ ok: false, why: `job: bad ${field}` });
  const { v, nonce, text, cwd, timeMs, memoryBytes, outputBytes, log, result, environment } = value;
  if (v !== 1) return bad("v");
  if (!isNonce(nonce)) return bad("nonce");
  if (!isPlain(text) || text === "" || Buffer.byteLength(text) > textBytesMax) return bad("text");
  if (!isAbsolutePath(cwd)) return bad("cwd");
  if (!isAbsolutePath(log)) return bad("log");
  if (!isAbsolutePath(result)) return bad("result");
  if (!isWhole(timeMs) || timeMs === 0) return bad("timeMs");
  if (!isWhole(memoryBytes) || memoryBytes === 0) return bad("memoryBytes");
  if (!isWhole(outputBytes) || outputBytes === 0) return bad("outputBytes");
  if (!isEnvironment(environment)) return bad("environment");
  return {
    ok: true,
    job: { v, nonce, text, cwd, timeMs, memoryBytes, outputBytes, log, result, environment },
  };
}

/**
 * The environment the command sees: the job's, without `GIT_*` (it would lead git into another repository; only where
 * git must stop looking may be said), with
 * NODE_OPTIONS and NODE_PATH as the user had them before the launcher put them aside, and with the nonce.
 */
export function commandEnvironment(job: CommandJob): Record<string, string> {
  const made: Record<string, string> = {};
  for (const [name, value] of Object.entries(job.environment)) {
    if (!name.startsWith("GIT_") || name === "GIT_CEILING_DIRECTORIES") made[name] = value;
  }
  for (const name of ["NODE_OPTIONS", "NODE_PATH"]) {
    const kept = made[`ATLAS_${name}`];
    delete made[`ATLAS_${name}`];
    if (kept !== undefined && kept !== "" && made[name] === undefined) made[name] = kept;
  }
  made[nonceVariable] = job.nonce;
  return made;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPlain(value: unknown): value is string {
  return typeof value === "string" && !value.includes("\0");
}

function isAbsolutePath(value: unknown): value is string {
  return isPlain(value) && value.length <= 4096 && isAbsolute(value);
}

function isEnvironment(value: unknown): value is Record<string, string> {
  if (!isRecord(value)) return false;
  const entries = Object.entries(value);
  if (entries.length > variablesMax) return false;
  return entries.every(([name, text]) => isPlain(name) && name !== "" && !name.includes("=") && isPlain(text));
}
