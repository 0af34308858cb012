/**
 * Files of a snapshot written into a working tree, or removed from it. The caller has made sure what lies there.
 *
 * What a failure leaves behind: some paths done, the others as they were; doing it again is harmless. Durable when it
 * returns: content, then every folder that holds one of the paths.
 */
import { constants } from "node:fs";
import { dirname, join } from "node:path";
import { entryKind, errno, failure, listFolder, syncFolder } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { zeroInput } from "./git-paths.ts";
import type { Snapshots } from "./snapshot.ts";

/** Raw bytes, modes and links of `tree` at `paths`, below `root`. */
export function writePaths(
  fs: FileSystem,
  snapshots: Snapshots,
  tree: string,
  root: string,
  paths: readonly string[],
): void {
  if (paths.length === 0) return;
  snapshots.writeOut(tree, root, zeroInput(paths));
  for (const path of paths) syncFile(fs, join(root, path));
  for (const folder of foldersOf(paths)) syncFolder(fs, join(root, folder));
}

/** Removes files and links, and the folders that are empty because of it. */
export function removePaths(fs: FileSystem, root: string, paths: readonly string[]): void {
  for (const path of paths) {
    try {
      fs.unlinkSync(join(root, path));
    } catch (error) {
      if (errno(error) !== "ENOENT" && errno(error) !== "ENOTDIR") throw failure(error, join(root, path));
    }
  }
  for (const folder of foldersOf(paths)) dropIfEmpty(fs, root, folder);
}

function dropIfEmpty(fs: FileSystem, root: string, folder: string): void {
  for (let at = folder; at !== "" && at !== "."; at = dirname(at)) {
    const path = join(root, at);
    if (entryKind(fs, path) !== "folder" || listFolder(fs, path).length > 0) break;
    try {
      fs.rmdirSync(path);
    } catch {
      break;
    }
  }
  const kept = entryKind(fs, join(root, folder)) === "folder" ? folder : dirname(folder);
  if (entryKind(fs, join(root, kept)) === "folder") syncFolder(fs, join(root, kept));
}

/** Deepest first. */
function foldersOf(paths: readonly string[]): readonly string[] {
  const folders = new Set(paths.map((path) => dirname(path)));
  return [...folders].sort((a, b) => b.length - a.length);
}

function syncFile(fs: FileSystem, path: string): void {
  try {
    if (entryKind(fs, path) !== "file") return;
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
