/**
 * Files and folders: bounded reading, atomic replacing, exclusive creation, durable appending.
 *
 * What a failure leaves behind: a replaced file is the old bytes or the new ones, never between; a temporary
 * sibling may stay (`.tmp-…`, swept by `clean`). Content and folder are two halves: a durable call syncs both.
 */

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { dirname, join } from "node:path";
import { EnvironmentFailure, type RefusalCode } from "../core/result.ts";
import type { FileSystem } from "./fs.ts";

const noFollow = constants.O_NOFOLLOW ?? 0;
const nonBlock = constants.O_NONBLOCK ?? 0;

export type Read =
  | { readonly kind: "file"; readonly bytes: Buffer; readonly size: number }
  | { readonly kind: "absent" }
  | { readonly kind: "bad"; readonly why: BadFile };

export type BadFile = "a link" | "a folder" | "not a regular file" | "unreadable" | "too large";

/**
 * Reads a regular file of at most `bytesMax` bytes from `from` on. Never follows a link at the last component,
 * never blocks on a FIFO, never throws for what lies on disk.
 */
export function readBounded(fs: FileSystem, path: string, bytesMax: number, from = 0): Read {
  let fd: number;
  try {
    fd = fs.openSync(path, constants.O_RDONLY | noFollow | nonBlock);
  } catch (error) {
    const code = errno(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { kind: "absent" };
    if (code === "ELOOP" || code === "EMLINK") return { kind: "bad", why: "a link" };
    if (code === "EISDIR") return { kind: "bad", why: "a folder" };
    if (code === "EMFILE" || code === "ENFILE" || code === "EIO") throw failure(error, path);
    return { kind: "bad", why: code === "ENXIO" ? "not a regular file" : "unreadable" };
  }
  try {
    const stat = fs.fstatSync(fd);
    if (stat.isDirectory()) return { kind: "bad", why: "a folder" };
    if (!stat.isFile()) return { kind: "bad", why: "not a regular file" };
    const want = Math.max(0, stat.size - from);
    if (want > bytesMax) return { kind: "bad", why: "too large" };
    // One byte more than the size tells a file that grew while it was read.
    const buffer = Buffer.allocUnsafe(want + 1);
    let filled = 0;
    while (filled < buffer.length) {
      const got = fs.readSync(fd, buffer, filled, buffer.length - filled, from + filled);
      if (got === 0) break;
      filled += got;
    }
    return { kind: "file", bytes: buffer.subarray(0, Math.min(filled, want)), size: stat.size };
  } catch (error) {
    if (errno(error) === "EIO") throw failure(error, path);
    return { kind: "bad", why: "unreadable" };
  } finally {
    fs.closeSync(fd);
  }
}

/** The first `bytesMax` bytes of a regular file, whatever its size; null when it cannot be read. */
export function readPrefix(fs: FileSystem, path: string, bytesMax: number): Buffer | null {
  let fd: number;
  try {
    fd = fs.openSync(path, constants.O_RDONLY | noFollow | nonBlock);
  } catch {
    return null;
  }
  try {
    if (!fs.fstatSync(fd).isFile()) return null;
    const buffer = Buffer.alloc(bytesMax);
    return buffer.subarray(0, fs.readSync(fd, buffer, 0, bytesMax, 0));
  } catch {
    return null;
  } finally {
    fs.closeSync(fd);
  }
}

/** What stands at `path` itself, a link not followed. */
export function entryKind(fs: FileSystem, path: string): "file" | "folder" | "link" | "other" | "absent" {
  try {
    const stat = fs.lstatSync(path);
    if (stat.isSymbolicLink()) return "link";
    if (stat.isDirectory()) return "folder";
    return stat.isFile() ? "file" : "other";
  } catch {
    return "absent";
  }
}

/** Names in a folder, sorted; empty where there is none or it cannot be read. */
export function listFolder(fs: FileSystem, path: string): readonly string[] {
  try {
    return fs.readdirSync(path).sort();
  } catch {
    return [];
  }
}

/** Creates `path` and its missing parents (below an existing one); a link or file in the way is a failure. */
export function makeFolder(fs: FileSystem, path: string): void {
  const kind = entryKind(fs, path);
  if (kind === "folder") return;
  if (kind !== "absent") throw new EnvironmentFailure("disk.not_a_folder", `${path} is not a folder`, "atlas doctor");
  const parent = dirname(path);
  if (parent !== path) makeFolderFollowing(fs, parent);
  try {
    fs.mkdirSync(path);
  } catch (error) {
    if (errno(error) !== "EEXIST") throw failure(error, path);
  }
}

function makeFolderFollowing(fs: FileSystem, path: string): void {
  try {
    if (fs.statSync(path).isDirectory()) return;
  } catch {
    makeFolder(fs, path);
    return;
  }
  throw new EnvironmentFailure("disk.not_a_folder", `${path} is not a folder`, "atlas doctor");
}

/** Replaces `path` atomically: old bytes or new, never between. `durable` syncs content and folder. */
export function replaceFile(fs: FileSystem, path: string, bytes: Uint8Array | string, durable: boolean): void {
  const temporary = join(dirname(path), `.tmp-${randomBytes(6).toString("hex")}`);
  writeNew(fs, temporary, bytes, durable);
  try {
    fs.renameSync(temporary, path);
  } catch (error) {
    removeQuietly(fs, temporary);
    throw failure(error, path);
  }
  if (durable) syncFolder(fs, dirname(path));
}

/** Creates `path` with `bytes`, whole or not at all; false when something already stands there. */
export function createExclusive(fs: FileSystem, path: string, bytes: Uint8Array | string, durable: boolean): boolean {
  const temporary = join(dirname(path), `.tmp-${randomBytes(6).toString("hex")}`);
  writeNew(fs, temporary, bytes, durable);
  try {
    fs.linkSync(temporary, path);
    if (durable) syncFolder(fs, dirname(path));
    return true;
  } catch (error) {
    if (errno(error) === "EEXIST") return false;
    throw failure(error, path);
  } finally {
    removeQuietly(fs, temporary);
  }
}

/** Writes a file that must not exist yet; removed again when the write fails. */
export function writeNew(fs: FileSystem, path: string, bytes: Uint8Array | string, durable: boolean): void {
  const content = typeof bytes === "string" ? Buffer.from(bytes, "utf8") : bytes;
  let fd: number;
  try {
    fd = fs.openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o644);
  } catch (error) {
    throw failure(error, path);
  }
  try {
    let done = 0;
    while (done < content.length) {
      try {
        done += fs.writeSync(fd, content, done, content.length - done, null);
      } catch (error) {
        if (errno(error) !== "EINTR") throw error;
      }
    }
    if (durable) fs.fsyncSync(fd);
  } catch (error) {
    fs.closeSync(fd);
    removeQuietly(fs, path);
    throw failure(error, path);
  }
  fs.closeSync(fd);
}

/** Makes the entries of a folder durable. Windows cannot open one: there the file system orders them itself. */
export function syncFolder(fs: FileSystem, path: string): void {
  let fd: number;
  try {
    fd = fs.openSync(path, constants.O_RDONLY);
  } catch (error) {
    if (process.platform === "win32") return;
    throw failure(error, path);
  }
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    if (process.platform !== "win32") throw failure(error, path);
  } finally {
    fs.closeSync(fd);
  }
}

export function removeQuietly(fs: FileSystem, path: string): void {
  try {
    fs.unlinkSync(path);
  } catch {
    // Already gone, or not ours to remove: the caller's own error says more.
  }
}

/** Removes a folder of our own making, links never followed. */
export function removeFolder(fs: FileSystem, path: string): void {
  for (const name of listFolder(fs, path)) {
    const child = join(path, name);
    if (entryKind(fs, child) === "folder") removeFolder(fs, child);
    else fs.unlinkSync(child);
  }
  fs.rmdirSync(path);
}

export function errno(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "UNKNOWN";
}

const diskCodes: Readonly<Record<string, readonly [RefusalCode, string, string]>> = {
  ENOSPC: ["disk.full", "no space left", "free some space, then: atlas resume"],
  EDQUOT: ["disk.full", "the disk quota is used up", "free some space, then: atlas resume"],
  EIO: ["disk.io", "the disk reported an input/output error", "atlas doctor"],
  EROFS: ["disk.readonly", "the file system is read-only", "remount it writable, then: atlas resume"],
  EFBIG: ["disk.limit", "a file-size limit was reached", "ulimit -f unlimited"],
  EMFILE: ["disk.limit", "the limit of open files was reached", "ulimit -n 4096"],
  ENFILE: ["disk.limit", "the system's limit of open files was reached", "close programs, then: atlas resume"],
  EACCES: ["disk.permission", "permission denied", "atlas doctor"],
  EPERM: ["disk.permission", "permission denied", "atlas doctor"],
};

/** The failure of a system call as an environment failure: which limit, which path, what to do. */
export function failure(error: unknown, path: string): EnvironmentFailure {
  if (error instanceof EnvironmentFailure) return error;
  const known = diskCodes[errno(error)];
  if (known !== undefined) return new EnvironmentFailure(known[0], `${known[1]} (${path})`, known[2]);
  return new EnvironmentFailure("disk.other", `${errno(error)} (${path})`, "atlas doctor");
}
