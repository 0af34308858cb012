/**
 * A look at a log too long to read in a hook: from the snapshot beside it on. Reads only. A look decides nothing, so
 * neither the snapshot's own hash nor a line's is computed here; whoever writes behind the tip proves it first.
 */
import { dirname, join } from "node:path";
import { BLANK, type Headline } from "../core/headline.ts";
import { type Hash, LINE_BYTES_MAX, lastLine, type Tip } from "../core/line.ts";
import { readBounded, readPrefix } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { objectOf } from "./peek-foreign.ts";

/** The headline stands before the state, which may be megabytes. */
const snapshotBytesMax = 128 * 1024;

export interface LongLog {
  readonly headline: Headline;
  readonly from: Tip;
  /** What lies behind `from`. */
  readonly bytes: Buffer;
}

/** Null: no snapshot that stands on a line of this log, or more than `bytesMax` behind it. */
export function readLongLog(fs: FileSystem, log: string, bytesMax: number): LongLog | null {
  const prefix = readPrefix(fs, join(dirname(log), "snapshot.json"), snapshotBytesMax)?.toString("utf8") ?? "";
  // Inside a text a quote has a backslash before it, so this is no text of the headline's.
  const mark = prefix.indexOf(',"state":');
  const snapshot = mark < 0 ? null : objectOf(`${prefix.slice(0, mark)}}`);
  // Both forms carry the headline alike; only the state of the older one is another.
  if (snapshot === null || (snapshot.v !== 1 && snapshot.v !== 2)) return null;
  const { seq, sum, log_bytes: offset } = snapshot;
  const headline = soundHeadline(snapshot.headline);
  if (headline === null || !isCount(seq) || !isCount(offset) || typeof sum !== "string") return null;
  const from: Tip = { seq, sum, offset };
  if (!standsOn(fs, log, from, null)) return null;
  const read = readBounded(fs, log, bytesMax, offset);
  return read.kind === "file" && read.size >= offset ? { headline, from, bytes: read.bytes } : null;
}

/** Whether the line before `from.offset` is that of `from`; without a hash its sum is taken as it stands. */
export function standsOn(fs: FileSystem, log: string, from: Tip, hash: Hash | null): boolean {
  const start = Math.max(0, from.offset - LINE_BYTES_MAX - 3);
  const end = readPrefix(fs, log, from.offset - start, start);
  const line = end === null || end.length !== from.offset - start ? null : lastLine(end, hash);
  return line !== null && line.seq === from.seq && line.sum === from.sum;
}

/** A headline as a snapshot may hold it: what is printed of it is a number or a known word; an owner is looked at later. */
function soundHeadline(value: unknown): Headline | null {
  if (typeof value !== "object" || value === null) return null;
  const { head, stage, refinePasses, done, terminal, lastTs } = value as Partial<Headline>;
  if (typeof head !== "object" || head === null) return null;
  const isSound =
    typeof head.kind === "string" &&
    isCount(head.epoch) &&
    typeof head.owner === "object" &&
    typeof head.released === "boolean" &&
    typeof head.abandoned === "boolean" &&
    (stage === null || typeof stage === "string") &&
    isCount(refinePasses) &&
    Array.isArray(done) &&
    done.every((name) => typeof name === "string") &&
    typeof terminal === "boolean" &&
    typeof lastTs === "string";
  return isSound ? { ...BLANK, ...(value as Headline) } : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
