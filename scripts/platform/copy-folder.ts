/**
 * A folder copied durably: regular files and folders; what else lies there (a link, a FIFO) is none of ours and stays out.
 *
 * What a failure leaves behind: a copy in part. Its caller builds beside and removes it.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { closeQuietly, entryKind, failure, listFolder, makeFolder, readAgain, syncFolder, writeAll } from "./files.ts";
import type { FileSystem } from "./fs.ts";

const chunkBytes = 1024 * 1024;

/** `to` must not exist; its parent must. Synced but for the name of `to` itself. Throws `disk.*`. */
export function copyFolder(fs: FileSystem, from: string, to: string): void {
  makeFolder(fs, to);
  for (const name of listFolder(fs, from)) {
    const [source, target] = [join(from, name), join(to, name)];
    const kind = entryKind(fs, source);
    if (kind === "folder") copyFolder(fs, source, target);
    if (kind === "file") copyFile(fs, source, target);
  }
  syncFolder(fs, to);
}

function copyFile(fs: FileSystem, from: string, to: string): void {
  const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  let source: number | null = null;
  let target: number | null = null;
  try {
    source = fs.openSync(from, constants.O_RDONLY | careful);
    target = fs.openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | careful, 0o644);
    const chunk = Buffer.allocUnsafe(chunkBytes);
    for (let at = 0; ; ) {
      const got = readAgain(fs, source, chunk, 0, at);
      if (got === 0) break;
      writeAll(fs, target, chunk.subarray(0, got));
      at += got;
    }
    fs.fsyncSync(target);
  } catch (error) {
    throw failure(error, to);
  } finally {
    for (const fd of [source, target]) if (fd !== null) closeQuietly(fs, fd);
  }
}
