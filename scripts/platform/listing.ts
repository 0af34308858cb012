/**
 * Which runs of a place are open, without reading ten thousand names again: `<state>/listed/<hash of the place>` holds
 * what the last full look found, and is believed only while the place's folders are, by identity and times, the very
 * ones it was found in. A cache in the user's own state folder, where no repository writes; never truth.
 *
 * What a failure leaves behind: nothing, the old file or a temporary one. Never synced, never waited for; whatever is
 * odd about it costs a full look.
 */
import { join } from "node:path";
import { isRunId, type RunId } from "../core/ids.ts";
import { entryKind, listFolder, makeFolder, readBounded, replaceFile } from "./files.ts";
import { FINISHED, PACKED, readMarks, unmarked } from "./finished.ts";
import type { FileSystem } from "./fs.ts";
import { shortSha256 } from "./short-hash.ts";

/** Fewer names are sooner read than remembered. */
export const LISTED_NAMES_MIN = 256;
/** More open runs than that are not remembered. */
const openMax = 256;
const bytesMax = 64 * 1024;
/** A change within one tick of a file system's clock may not show in its times; most tick in a few ms, some in 2 s. */
const [youngMs, youngWholeMs] = [1000, 3000];
/** A disk whose folders tell no times is looked at in full this often. */
const believedMs = 600_000;

export interface Listing {
  /** Ids without a finished mark, ascending. */
  readonly open: readonly RunId[];
  /** How many names have one. */
  readonly finished: number;
}

/** The open runs of a place: remembered where that is provably the same, else read, and remembered for the next. */
export function listRuns(fs: FileSystem, atlas: string, state: string | null, now: number = Date.now()): Listing {
  const known = recallListing(fs, atlas, state, now);
  if (known !== null) return known;
  const before = placeIdentity(fs, atlas);
  // In this order: a run that ends in between is opened and seen to be finished.
  const marks = readMarks(fs, atlas);
  const names = listFolder(fs, atlas);
  const open = unmarked(marks, names);
  const listing = { open: open.filter(isRunId), finished: names.length - open.length };
  rememberListing(fs, { atlas, state, now }, before, listing);
  return listing;
}

/** What was found when the place was exactly as it is now; null: look for yourself. */
export function recallListing(
  fs: FileSystem,
  atlas: string,
  state: string | null,
  now: number = Date.now(),
): Listing | null {
  if (state === null || entryKind(fs, join(state, "listed")) !== "folder") return null;
  const read = readBounded(fs, pathOf(state, atlas), bytesMax);
  if (read.kind !== "file") return null;
  try {
    const kept = JSON.parse(read.bytes.toString("utf8")) as Record<string, unknown>;
    const { open, finished, at } = kept;
    if (kept.v !== 1 || kept.atlas !== atlas || typeof at !== "number" || !(at <= now && now - at < believedMs))
      return null;
    if (!Number.isSafeInteger(finished) || (finished as number) < 0) return null;
    if (!Array.isArray(open) || open.length > openMax || !open.every(isRunId)) return null;
    if (open.some((id, index) => index > 0 && !((open[index - 1] as string) < id))) return null;
    if (kept.seen !== placeIdentity(fs, atlas)?.text) return null;
    return { open, finished: finished as number };
  } catch {
    return null;
  }
}

export interface Identity {
  readonly text: string;
  /** The latest of all its times, in ms. */
  readonly latest: number;
}

/** Any name that comes or goes in one of these changes what they say; times alone can be set, not that of the change. */
export function placeIdentity(fs: FileSystem, atlas: string): Identity | null {
  const words: string[] = [];
  let latest = 0;
  for (const path of [atlas, join(atlas, FINISHED), join(atlas, FINISHED, PACKED)]) {
    try {
      const stat = fs.lstatSync(path);
      // Marks that lie in a file, behind a link or nowhere are another matter.
      if (path.endsWith(PACKED) ? !stat.isFile() : !stat.isDirectory()) return null;
      const { dev, ino, nlink, size, mode, uid, mtimeMs, ctimeMs } = stat;
      words.push([dev, ino, nlink, size, mode, uid, mtimeMs, ctimeMs].join(":"));
      latest = Math.max(latest, mtimeMs, ctimeMs);
    } catch {
      return null;
    }
  }
  return Number.isFinite(latest) ? { text: words.join(" "), latest } : null;
}

/**
 * Remembers what was found in a large place, unless it was young or changed meanwhile; `before`: its identity from
 * before the first look.
 */
export function rememberListing(
  fs: FileSystem,
  { atlas, state, now }: { readonly atlas: string; readonly state: string | null; readonly now: number },
  before: Identity | null,
  { open, finished }: Listing,
): void {
  if (state === null || before === null || open.length + finished < LISTED_NAMES_MIN) return;
  if (open.length > openMax || now - before.latest < (before.latest % 1000 === 0 ? youngWholeMs : youngMs)) return;
  if (placeIdentity(fs, atlas)?.text !== before.text) return;
  const bytes = JSON.stringify({ v: 1, atlas, at: now, seen: before.text, finished, open });
  if (Buffer.byteLength(bytes) > bytesMax) return;
  try {
    makeFolder(fs, join(state, "listed"));
    replaceFile(fs, pathOf(state, atlas), bytes, false);
  } catch {
    // The next one reads them all again.
  }
}

function pathOf(state: string, atlas: string): string {
  return join(state, "listed", shortSha256(atlas).slice(0, 32));
}
