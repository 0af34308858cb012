/**
 * Whether git's index could hold a path, without starting git: it may only ever say "no" where that is certain.
 * Reads only.
 */
import { isAbsolute, join } from "node:path";
import { entryKind, listFolder, readBounded } from "./files.ts";
import type { FileSystem } from "./fs.ts";

const indexBytesMax = 64 * 1024 * 1024;
const pointerBytesMax = 16 * 1024;
const headerBytes = 12;

/**
 * False: the index of the working tree at `root` holds neither `folder` (a submodule) nor anything below it, in any
 * letter case. True: it does, or only git can tell (a form with compressed or shared paths, or anything unexpected).
 */
export function mayTrack(fs: FileSystem, root: string, folder: string): boolean {
  const gitFolder = gitFolderOf(fs, root);
  if (gitFolder === null) return true;
  if (listFolder(fs, gitFolder).some((name) => name.startsWith("sharedindex."))) return true;
  const read = readBounded(fs, join(gitFolder, "index"), indexBytesMax);
  if (read.kind === "absent") return false;
  if (read.kind === "bad" || read.bytes.length < headerBytes) return true;
  const version = read.bytes.readUInt32BE(4);
  // Version 4 writes only how a path differs from the one before.
  if (read.bytes.toString("latin1", 0, 4) !== "DIRC" || (version !== 2 && version !== 3)) return true;
  return read.bytes.toString("latin1", headerBytes).toLowerCase().includes(folder.toLowerCase());
}

function gitFolderOf(fs: FileSystem, root: string): string | null {
  const path = join(root, ".git");
  const kind = entryKind(fs, path);
  if (kind === "folder") return path;
  if (kind !== "file") return null;
  const read = readBounded(fs, path, pointerBytesMax);
  const named = read.kind === "file" ? /^gitdir: (.+?)\s*$/.exec(read.bytes.toString("utf8"))?.[1] : undefined;
  if (named === undefined) return null;
  return isAbsolute(named) ? named : join(root, named);
}
