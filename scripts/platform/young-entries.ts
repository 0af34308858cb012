/**
 * Index entries too young to be trusted as a stat cache. Git is usually built to compare whole seconds, so a file
 * rewritten within the second of its last change, with its size and mtime kept, would look unchanged for ever.
 */
import { pathFromBytes } from "./git-paths.ts";

export interface IndexEntry {
  readonly mode: string;
  readonly blob: string;
  readonly path: string;
}

/**
 * Entries of an index file (version 2 or 3) whose inode changed at `sinceS` (seconds since the epoch) or later;
 * null for a file of any other form. `blobBytes` is 20 or 32, as the repository's hash.
 */
export function youngEntries(index: Buffer, sinceS: number, blobBytes: number): readonly IndexEntry[] | null {
  if (index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC") return null;
  const version = index.readUInt32BE(4);
  if (version !== 2 && version !== 3) return null;
  const young: IndexEntry[] = [];
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + 40 + blobBytes;
    if (flagsAt + 4 > index.length) return null;
    const nameAt = flagsAt + ((index.readUInt16BE(flagsAt) & 0x4000) === 0 ? 2 : 4);
    const nameEnd = index.indexOf(0, nameAt);
    if (nameEnd === -1) return null;
    if (index.readUInt32BE(at) >= sinceS) {
      const mode = index
        .readUInt32BE(at + 24)
        .toString(8)
        .padStart(6, "0");
      const blob = index.toString("hex", at + 40, flagsAt);
      young.push({ mode, blob, path: pathFromBytes(index.subarray(nameAt, nameEnd)) });
    }
    // An entry is padded with one to eight NULs to a multiple of eight.
    at += (nameEnd - at + 8) & ~7;
  }
  return young;
}
