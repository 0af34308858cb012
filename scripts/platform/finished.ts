/**
 * Which runs of a place are known to be finished: `.atlas/.finished/<id>`, an empty file each. When there are many,
 * their names are packed into one file beside them, so that a start-up reads a file and not ten thousand entries.
 *
 * What a failure leaves behind: a mark twice, or one less than there should be. A lost mark costs time only.
 */
import { join } from "node:path";
import { entryKind, listFolder, makeFolder, readBounded, removeQuietly, replaceFile } from "./files.ts";
import type { FileSystem } from "./fs.ts";

export const FINISHED = ".finished";
/** A dot name: no run can be called so. */
export const PACKED = ".packed";
/** Marks that may lie about singly; one more, and all are packed. */
export const LOOSE_MARKS_MAX = 64;
/** Some hundred thousand ids of the longest kind. */
const packedBytesMax = 16 * 1024 * 1024;
const newline = 0x0a;

export interface Marks {
  /** Those that are files of their own. */
  readonly loose: ReadonlySet<string>;
  /** The others, ascending, a line each with a newline before it. */
  readonly packed: string;
}

export const NO_MARKS: Marks = { loose: new Set(), packed: "\n" };

/** Every mark of a place. Whatever lies there gives an answer; what cannot be read marks nothing. */
export function readMarks(fs: FileSystem, atlas: string): Marks {
  const folder = join(atlas, FINISHED);
  if (entryKind(fs, folder) !== "folder") return NO_MARKS;
  // In this order: who packs removes the single ones last, so that no mark is in neither.
  const names = listFolder(fs, folder);
  return { loose: new Set(names.filter(isMark)), packed: names.includes(PACKED) ? readPacked(fs, folder) : "\n" };
}

/** Every id that is marked. */
export function markedIds({ loose, packed }: Marks): ReadonlySet<string> {
  return new Set([...loose, ...packed.split("\n").filter(isMark)]);
}

/** Those of some ascending names that are not marked. */
export function unmarked({ loose, packed }: Marks, names: readonly string[]): readonly string[] {
  // Both are sorted, and nearly alike: walked side by side, a finished run costs one comparison and no hash.
  let at = 1;
  return names.filter((name) => {
    for (;;) {
      if (packed.startsWith(name, at) && packed.charCodeAt(at + name.length) === newline) {
        at += name.length + 1;
        return false;
      }
      const end = packed.indexOf("\n", at);
      if (end < 0 || packed.slice(at, end) > name) return !loose.has(name);
      at = end + 1;
    }
  });
}

/** Whether a run is marked as finished. */
export function isMarked(fs: FileSystem, atlas: string, id: string): boolean {
  const folder = join(atlas, FINISHED);
  return entryKind(fs, join(folder, id)) !== "absent" || readPacked(fs, folder).includes(`\n${id}\n`);
}

function readPacked(fs: FileSystem, folder: string): string {
  const read = readBounded(fs, join(folder, PACKED), packedBytesMax);
  return read.kind === "file" ? `\n${read.bytes.toString("latin1")}` : "\n";
}

/** Marks a run as finished. Throws where the place cannot be written. */
export function mark(fs: FileSystem, atlas: string, id: string): void {
  const folder = join(atlas, FINISHED);
  makeFolder(fs, folder);
  if (isMarked(fs, atlas, id)) return;
  replaceFile(fs, join(folder, id), "", false);
  packMarks(fs, atlas);
}

/** Packs the marks where more than `LOOSE_MARKS_MAX` lie singly. Throws where the place cannot be written. */
export function packMarks(fs: FileSystem, atlas: string): void {
  const folder = join(atlas, FINISHED);
  const loose = listFolder(fs, folder).filter(isMark);
  if (loose.length <= LOOSE_MARKS_MAX) return;
  const all = [...markedIds(readMarks(fs, atlas))].sort();
  // Synced, because the single marks go now.
  replaceFile(fs, join(folder, PACKED), `${all.join("\n")}\n`, true);
  for (const name of loose) removeQuietly(fs, join(folder, name));
}

/** Not the packed ones, and nothing a killed writer left. */
function isMark(name: string): boolean {
  return name !== "" && !name.startsWith(".");
}
