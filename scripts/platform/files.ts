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
import { patiently } from "./patience.ts";

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
      const got = readAgain(fs, fd, buffer, filled, from + filled);
      if (got === 0) break;
      filled += got;
    }
    return { kind: "file", bytes: buffer.subarray(0, Math.min(filled, want)), size: stat.size };
  } catch (error) {
    if (errno(error) === "EIO") throw failure(error, path);
    return { kind: "bad", why: "unreadable" };
  } finally {
    closeQuietly(fs, fd);
  }
}

/** Of all calls node makes, only a read is not begun again by itself when a signal comes. */
export function readAgain(fs: FileSystem, fd: number, buffer: Buffer, at: number, position: number): number {
  for (;;) {
    try {
      return fs.readSync(fd, buffer, at, buffer.length - at, position);
    } catch (error) {
      if (errno(error) !== "EINTR") throw error;
    }
  }
}

/** The first `bytesMax` bytes from `from` on, whatever the file's size; null when it cannot be read or is no file. */
export function readPrefix(fs: FileSystem, path: string, bytesMax: number, from = 0): Buffer | null {
  let fd: number;
  try {
    fd = fs.openSync(path, constants.O_RDONLY | noFollow | nonBlock);
  } catch {
    return null;
  }
  try {
    if (!fs.fstatSync(fd).isFile()) return null;
    const buffer = Buffer.alloc(bytesMax);
    return buffer.subarray(0, readAgain(fs, fd, buffer, 0, from));
  } catch {
    return null;
  } finally {
    closeQuietly(fs, fd);
  }
}

/** What stands at `path` itself, a link not followed. Throws `disk.io` for a disk that does not say. */
export function entryKind(fs: FileSystem, path: string): "file" | "folder" | "link" | "other" | "absent" {
  try {
    const stat = fs.lstatSync(path);
    if (stat.isSymbolicLink()) return "link";
    if (stat.isDirectory()) return "folder";
    return stat.isFile() ? "file" : "other";
  } catch (error) {
    if (errno(error) === "EIO") throw failure(error, path);
    return "absent";
  }
}

/** Names in a folder, sorted; empty where there is none or it may not be read. A failing disk is never "empty". */
export function listFolder(fs: FileSystem, path: string): readonly string[] {
  try {
    return fs.readdirSync(path).sort();
  } catch (error) {
    if (["EIO", "EMFILE", "ENFILE"].includes(errno(error))) throw failure(error, path);
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

/** Whether a name is that of a temporary sibling, which a killed writer leaves behind. */
export function isTemporary(name: string): boolean {
  return /^\.tmp-[0-9a-f]{12}$/.test(name);
}

/**
 * Replaces `path` atomically: old bytes or new, never between. `durable` syncs content and folder; `"content"` the
 * content alone: after a power loss the old bytes or the new.
 */
export function replaceFile(
  fs: FileSystem,
  path: string,
  bytes: Uint8Array | string,
  durable: boolean | "content",
): void {
  const temporary = join(dirname(path), `.tmp-${randomBytes(6).toString("hex")}`);
  writeNew(fs, temporary, bytes, durable !== false);
  try {
    patiently(() => fs.renameSync(temporary, path));
  } catch (error) {
    removeQuietly(fs, temporary);
    throw failure(error, path);
  }
  if (durable === true) syncFolder(fs, dirname(path));
}

/**
 * Replaces a view that may be lost: not synced, and not over a link, a FIFO or a folder that somebody put there.
 * Throws as `replaceFile` does.
 */
export function replaceView(fs: FileSystem, path: string, bytes: Uint8Array | string): void {
  const kind = entryKind(fs, path);
  if (kind === "file" || kind === "absent") replaceFile(fs, path, bytes, false);
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
    writeAll(fs, fd, content);
    if (durable) fs.fsyncSync(fd);
  } catch (error) {
    removeQuietly(fs, path);
    throw failure(error, path);
  } finally {
    closeQuietly(fs, fd);
  }
}

/** Every byte, in as many writes as it takes. Throws what the system says. */
export function writeAll(fs: FileSystem, fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += fs.writeSync(fd, bytes, done, bytes.length - done, null);
    } catch (error) {
      if (errno(error) !== "EINTR") throw error;
    }
  }
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
    closeQuietly(fs, fd);
  }
}

/** What had to be durable was synced before: a close that fails has nothing to add. */
export function closeQuietly(fs: FileSystem, fd: number): void {
  try {
    fs.closeSync(fd);
  } catch {
    // The descriptor is gone either way.
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
  EBUSY: ["disk.busy", "another program holds the file", "keep the folder out of synced folders, then: atlas resume"],
  EACCES: ["disk.permission", "permission denied", "atlas doctor"],
  EPERM: ["disk.permission", "permission denied", "atlas doctor"],
};

/** Whether a disk, a limit or a permission made node throw it. */
export function isDiskError(error: unknown): error is Error & { readonly path?: string } {
  return error instanceof Error && "syscall" in error && Object.hasOwn(diskCodes, errno(error));
}

/** The failure of a system call as an environment failure: which limit, which path, what to do. */
export function failure(error: unknown, path: string): EnvironmentFailure {
  if (error instanceof EnvironmentFailure) return error;
  const known = diskCodes[errno(error)];
  if (known !== undefined) return new EnvironmentFailure(known[0], `${known[1]} (${path})`, known[2]);
  return new EnvironmentFailure("disk.other", `${errno(error)} (${path})`, "atlas doctor");
}
