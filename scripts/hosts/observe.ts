/**
 * What a hook saw, written beside a run for the next verb to take in: `observed.jsonl` and the result of an agent.
 *
 * What a failure leaves behind: a torn observation, which a reader skips; no result, so that the lease is handed out
 * again. Neither is truth: the engine checks both against the ledger.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { leaseFileBase } from "../core/lease-file.ts";
import { isLease, roleOf } from "../core/lease-line.ts";
import { createExclusive, entryKind, readBounded } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";

export const OBSERVATION_BYTES_MAX = 4096;
export const OBSERVED_BYTES_MAX = 1024 * 1024;
export const RESULT_BYTES_MAX = 1024 * 1024;
const leaseFileBytesMax = 4096;

export type Observation =
  | { readonly type: "started"; readonly lease: string }
  | { readonly type: "stopped"; readonly lease: string; readonly agent: string }
  | { readonly type: "typed"; readonly nonce: string; readonly choice: string };

/** By whom it was seen: the engine compares it with the run's owner. */
export interface Observer {
  readonly host: string;
  readonly session: string;
}

/** Appends one line to `<home>/observed.jsonl`; false when it was not possible or the file is full. */
export function observe(fs: FileSystem, home: string, observation: Observation, by: Observer): boolean {
  const line = `\n${JSON.stringify({ v: 1, ...observation, ...by })}\n`;
  if (Buffer.byteLength(line) > OBSERVATION_BYTES_MAX) return false;
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let fd: number | null = null;
  try {
    fd = fs.openSync(join(home, "observed.jsonl"), flags | careful, 0o644);
    const stat = fs.fstatSync(fd);
    const bytes = Buffer.from(line, "utf8");
    if (!stat.isFile() || stat.size + bytes.length > OBSERVED_BYTES_MAX) return false;
    return fs.writeSync(fd, bytes, 0, bytes.length, null) === bytes.length;
  } catch {
    return false;
  } finally {
    if (fd !== null) fs.closeSync(fd);
  }
}

/**
 * Writes an agent's last message as the result of its lease, whole or not at all, content and folder synced: only
 * for a live lease of the agent's own role, and never over a result that is there.
 */
export function writeResult(fs: FileSystem, home: string, lease: string, agentType: string, body: string): boolean {
  const results = join(home, "results");
  if (!isLease(lease) || Buffer.byteLength(body) > RESULT_BYTES_MAX) return false;
  if (entryKind(fs, results) !== "folder") return false;
  const base = join(results, leaseFileBase(lease));
  if (roleOfLease(fs, `${base}.lease`, lease) !== roleOf(agentType)) return false;
  try {
    return createExclusive(fs, `${base}.out`, body, true);
  } catch {
    return false;
  }
}

/** The role a live lease was handed out to; null when it is not live. */
function roleOfLease(fs: FileSystem, path: string, lease: string): string | null {
  const read = readBounded(fs, path, leaseFileBytesMax);
  if (read.kind !== "file") return null;
  try {
    const held = JSON.parse(read.bytes.toString("utf8")) as { readonly lease?: unknown; readonly role?: unknown };
    return held.lease === lease && typeof held.role === "string" && held.role !== "" ? held.role : null;
  } catch {
    return null;
  }
}
