import { constants } from "node:fs";
import { join } from "node:path";
import { entryKind, failure, listFolder, syncFolder } from "./files.ts";
import type { FileSystem } from "./fs.ts";

/** Makes a folder durable: every file's content, then every folder's entries. Links are entries only. */
export function syncTree(fs: FileSystem, folder: string): void {
  for (const name of listFolder(fs, folder)) {
    const path = join(folder, name);
    const kind = entryKind(fs, path);
    if (kind === "folder") syncTree(fs, path);
    if (kind === "file") syncContent(fs, path);
  }
  syncFolder(fs, folder);
}

/** Makes a file's content durable; its name is its folder's. */
export function syncContent(fs: FileSystem, path: string): void {
  try {
    const fd = fs.openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
  } catch (error) {
    throw failure(error, path);
  }
}
