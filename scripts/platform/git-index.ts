/**
 * Whether git's index holds a path, without starting git: one question is never answered "no" and the other never
 * "yes" where that is not certain. Reads only.
 */
import { isAbsolute, join } from "node:path";
import { entryKind, listFolder, readBounded } from "./files.ts";
import type { FileSystem } from "./fs.ts";

const indexBytesMax = 64 * 1024 * 1024;
const pointerBytesMax = 16 * 1024;
const headerBytes = 12;
/** Of the flags before a path. */
const pathLengthMask = 0xfff;

/**
 * False: the index of the working tree at `root` holds neither `folder` (a submodule) nor anything below it, in any
 * letter case. True: it does, or only git can tell (a form with compressed or shared paths, or anything unexpected).
 */
export function mayTrack(fs: FileSystem, root: string, folder: string): boolean {
  const entries = entriesOf(fs, root, indexBytesMax);
  if (entries === "none") return false;
  return entries === null || entries.toString("latin1").toLowerCase().includes(folder.toLowerCase());
}

/**
 * True only where the index certainly holds a file below `folder` (as it is spelled), for a look that may not start
 * git and must say nothing wrong: a form it does not read, or an index above `bytesMax`, is no yes.
 */
export function surelyTracks(fs: FileSystem, root: string, folder: string, bytesMax: number): boolean {
  const entries = entriesOf(fs, root, bytesMax);
  if (entries === null || entries === "none") return false;
  const start = `${folder}/`;
  for (let at = entries.indexOf(start); at !== -1; at = entries.indexOf(start, at + 1)) {
    // A path follows its own length; the same letters inside another path, or in a hash, do not.
    const end = at < 2 ? 0 : at + (entries.readUInt16BE(at - 2) & pathLengthMask);
    if (entries[end] === 0 && entries.indexOf(0, at) === end) return true;
  }
  return false;
}

/** What follows the header; `none`: there is no index. Null: a form that only git reads. */
function entriesOf(fs: FileSystem, root: string, bytesMax: number): Buffer | "none" | null {
  const gitFolder = gitFolderOf(fs, root);
  if (gitFolder === null) return null;
  if (listFolder(fs, gitFolder).some((name) => name.startsWith("sharedindex."))) return null;
  const read = readBounded(fs, join(gitFolder, "index"), bytesMax);
  if (read.kind === "absent") return "none";
  if (read.kind === "bad" || read.bytes.length < headerBytes) return null;
  const version = read.bytes.readUInt32BE(4);
  // Version 4 writes only how a path differs from the one before.
  if (read.bytes.toString("latin1", 0, 4) !== "DIRC" || (version !== 2 && version !== 3)) return null;
  return read.bytes.subarray(headerBytes);
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
