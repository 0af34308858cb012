/**
 * The one line a hook may add to a ledger: `released`, when the owning session ends. One try.
 *
 * What a failure leaves behind: a fragment or a line that lost its place, both skipped by every reader; the run then
 * counts as owned until its owner's process is gone.
 */
import { constants } from "node:fs";
import type { HeadEvent } from "../core/head.ts";
import { LINE_VERSION, readChain, sealLine } from "../core/line.ts";
import { readBounded } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { sha256 } from "../platform/hash.ts";
import { HOOK_LOG_BYTES_MAX, type PeekedRun } from "../platform/peek.ts";
import { standsOn } from "../platform/peek-long.ts";

export interface Release {
  readonly reason: string;
  readonly session: string;
  readonly pid: number;
  /** ISO time; telemetry. */
  readonly ts: string;
}

/** Appends and syncs the line at the tip that was peeked; false when it is not known to be on disk. */
export function release(fs: FileSystem, run: PeekedRun, by: Release): boolean {
  if (run.ours === null || !isProvenTip(fs, run.ours)) return false;
  const event: HeadEvent = { type: "released", epoch: run.epoch, reason: by.reason };
  const { text } = sealLine(
    {
      v: LINE_VERSION,
      seq: run.ours.tip.seq + 1,
      prev: run.ours.tip.sum,
      ts: by.ts,
      run_id: run.id,
      by: { verb: "hook", pid: by.pid, session: by.session, epoch: run.epoch },
      events: [event],
    },
    sha256,
  );
  const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let fd: number | null = null;
  try {
    fd = fs.openSync(run.ours.log, constants.O_WRONLY | constants.O_APPEND | careful);
    if (!fs.fstatSync(fd).isFile()) return false;
    const bytes = Buffer.from(`\n${text}\n`, "utf8");
    // The line it follows may be another process's, and young: it must reach the disk first.
    fs.fsyncSync(fd);
    if (fs.writeSync(fd, bytes, 0, bytes.length, null) !== bytes.length) return false;
    fs.fsyncSync(fd);
    return true;
  } catch {
    return false;
  } finally {
    if (fd !== null) fs.closeSync(fd);
  }
}

/** A look takes sums as they stand; a line may only follow what hashes to its sum, or it would turn damage into rot. */
function isProvenTip(fs: FileSystem, ours: NonNullable<PeekedRun["ours"]>): boolean {
  const { log, from } = ours;
  const read = readBounded(fs, log, HOOK_LOG_BYTES_MAX, from.offset);
  if (read.kind !== "file" || (from.seq > 0 && !standsOn(fs, log, from, sha256))) return false;
  const { tip, end } = readChain(read.bytes, sha256, from);
  return end.at === "end" && tip.seq === ours.tip.seq && tip.sum === ours.tip.sum;
}

/** A host's word for why a session ended, or `other`. */
export function endReason(text: string): string {
  return /^[a-z][a-z_]{0,31}$/.test(text) ? text : "other";
}
