/**
 * The log file: durable appending and reading.
 *
 * What a failure leaves behind: a fragment (closed by the next line's leading newline and skipped), a whole line
 * that lost its `seq` (noise), or our line. Nobody is told before the line is synced and read back as accepted.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { type Chain, LINE_BYTES_MAX, LOG_BYTES_MAX, ORIGIN, readChain, sumsBefore, type Tip } from "../core/line.ts";
import { EnvironmentFailure } from "../core/result.ts";
import { closeQuietly, errno, failure, readBounded, readPrefix } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { sha256 } from "../platform/hash.ts";

export const LOG_NAME = "log.jsonl";
/** Kept free for the line that ends the run: a full ledger can still be abandoned. */
export const LAST_LINE_BYTES = LINE_BYTES_MAX + 2;
/** Whoever loses a race stands a few lines back; further back than this only reading from the first line can tell. */
const LATE_BYTES_MAX = LINE_BYTES_MAX;
const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlock = constants.O_NONBLOCK ?? 0;

/** Reads from `from` on; null: no log; `bad`: it cannot be read, and why. */
export function readLog<E>(
  fs: FileSystem,
  folder: string,
  from: Tip,
): { readonly chain: Chain<E>; readonly size: number } | { readonly bad: string } | null {
  const read = readBounded(fs, join(folder, LOG_NAME), LOG_BYTES_MAX, from.offset);
  if (read.kind === "absent") return null;
  if (read.kind === "bad") return { bad: read.why };
  const chain = readChain<E>(read.bytes, sha256, from);
  if (chain.end.at !== "broken" || from.offset === 0) return { chain, size: read.size };
  // The late line of a lost race looks like rot as long as the line it followed is not known.
  const start = Math.max(0, from.offset - LATE_BYTES_MAX);
  const before = readPrefix(fs, join(folder, LOG_NAME), from.offset - start, start);
  const known = before === null ? [] : sumsBefore(before, sha256, from.sum);
  return { chain: readChain<E>(read.bytes, sha256, from, known), size: read.size };
}

/** `won` carries the tip our line ended at; null when others have appended behind it since. */
export type Appended = "lost" | { readonly won: Tip | null };

/** A sealed line; `last` ends the run, and may use the room that is kept for it. */
export interface NewLine {
  readonly text: string;
  readonly sum: string;
  readonly last: boolean;
}

/**
 * Appends one sealed line behind `tip` and says whether it is the one accepted for its `seq`.
 * Throws `disk.full|io|readonly|limit|unsynced` (nothing is told then; the next fold decides what stands).
 */
export function appendLine(fs: FileSystem, folder: string, tip: Tip, line: NewLine): Appended {
  const path = join(folder, LOG_NAME);
  const { text, sum, last } = line;
  if (Buffer.byteLength(text) > LINE_BYTES_MAX) throw new Error(`a ledger line of ${Buffer.byteLength(text)} bytes`);
  const bytesMax = last ? LOG_BYTES_MAX : LOG_BYTES_MAX - LAST_LINE_BYTES;
  // Two young lines may reach the disk in any order, and a line whose foregoer is a hole is rot.
  if (tip.seq > 0 && !isSynced(fs, path, tip)) syncLog(fs, folder);
  const written = writeOnce(fs, path, text, bytesMax);
  let outcome = readBack(fs, folder, tip, sum);
  if (outcome === "absent" && written !== "whole") {
    // Never "the rest": the same whole line again, its leading newline closes the fragment.
    writeOnce(fs, path, text, bytesMax);
    outcome = readBack(fs, folder, tip, sum);
  }
  if (outcome === "absent") {
    throw new EnvironmentFailure("disk.short", `a line could not be written whole (${path})`, "atlas doctor");
  }
  if (outcome !== "lost" && outcome.won !== null) synced.set(fs, { path, sum });
  return outcome;
}

/** The line this process synced last: behind it nothing has to be waited for. */
const synced = new WeakMap<FileSystem, { readonly path: string; readonly sum: string }>();

function isSynced(fs: FileSystem, path: string, tip: Tip): boolean {
  const last = synced.get(fs);
  return last !== undefined && last.path === path && last.sum === tip.sum;
}

function writeOnce(fs: FileSystem, path: string, text: string, bytesMax: number): "whole" | "short" {
  const bytes = Buffer.from(`\n${text}\n`, "utf8");
  let outcome = tryWrite(fs, path, bytes, bytesMax);
  if (outcome === "unsynced") {
    // After a failed fsync the kernel may have dropped the page: only a fresh write and sync can be believed.
    outcome = tryWrite(fs, path, bytes, bytesMax);
    if (outcome === "unsynced") {
      throw new EnvironmentFailure("disk.unsynced", `the disk did not confirm a write (${path})`, "atlas doctor");
    }
  }
  return outcome;
}

function tryWrite(fs: FileSystem, path: string, bytes: Uint8Array, bytesMax: number): "whole" | "short" | "unsynced" {
  let fd: number;
  try {
    fd = fs.openSync(path, constants.O_WRONLY | constants.O_APPEND | noFollow | nonBlock);
  } catch (error) {
    throw failure(error, path);
  }
  try {
    let count = 0;
    try {
      const stat = fs.fstatSync(fd);
      if (!stat.isFile()) throw goneFailure(path, "no regular file");
      if (stat.size + bytes.length > bytesMax) {
        const reason = `the ledger reached its limit of ${LOG_BYTES_MAX} bytes (${path})`;
        throw new EnvironmentFailure("disk.limit", reason, "atlas abandon");
      }
      count = fs.writeSync(fd, bytes, 0, bytes.length, null);
    } catch (error) {
      if (errno(error) !== "EINTR") throw failure(error, path);
    }
    try {
      fs.fsyncSync(fd);
    } catch {
      return "unsynced";
    }
    return count === bytes.length ? "whole" : "short";
  } finally {
    closeQuietly(fs, fd);
  }
}

function readBack(fs: FileSystem, folder: string, tip: Tip, sum: string): Appended | "absent" {
  const seq = tip.seq + 1;
  let chain = standing(fs, folder, tip);
  // A very late line of a lost race looks like rot: only reading from the first line can tell.
  if (chain.end.at === "broken" && chain.tip.seq < seq) chain = standing(fs, folder, ORIGIN);
  const holder = chain.lines.find((line) => line.seq === seq);
  if (holder === undefined) return "absent";
  if (holder.sum !== sum) return "lost";
  return { won: chain.tip.seq === seq ? chain.tip : null };
}

function standing(fs: FileSystem, folder: string, from: Tip): Chain<unknown> {
  const read = readLog<unknown>(fs, folder, from);
  if (read === null) throw goneFailure(join(folder, LOG_NAME), "gone");
  if ("bad" in read) throw goneFailure(join(folder, LOG_NAME), read.bad);
  return read.chain;
}

/** What was written cannot be read back: nothing is told. */
function goneFailure(path: string, what: string): EnvironmentFailure {
  return new EnvironmentFailure("ledger.gone", `the ledger is ${what} while it is written (${path})`, "atlas status");
}

/** What another process wrote may not be synced yet: neither an instruction nor a line may rest on it before it is. */
export function syncLog(fs: FileSystem, folder: string): void {
  const path = join(folder, LOG_NAME);
  let fd: number;
  try {
    fd = fs.openSync(path, constants.O_RDWR | noFollow | nonBlock);
  } catch (error) {
    throw failure(error, path);
  }
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    throw failure(error, path);
  } finally {
    closeQuietly(fs, fd);
  }
}
