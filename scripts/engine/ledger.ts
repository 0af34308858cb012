/** A run read from disk: fold from the snapshot if it can be believed, else from the first line. */
import { join } from "node:path";
import { applyToHeadline, BLANK, type Headline } from "../core/headline.ts";
import type { RunId } from "../core/ids.ts";
import type { EventBase } from "../core/kind.ts";
import { type Line, ORIGIN, type Tip } from "../core/line.ts";
import {
  EnvironmentFailure,
  IllegalEvent,
  type Refusal,
  type RefusalCode,
  type Result,
  refuse,
} from "../core/result.ts";
import { readBounded, replaceView } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { sha256 } from "../platform/hash.ts";
import { standsOn } from "../platform/peek-long.ts";
import { type AnyKind, type AnyState, kindNamed, unfit } from "./kinds.ts";
import { LOG_NAME, readLog } from "./log.ts";

/** Where a run's files lie. `ledger` is the run's folder, or `adopted/` below a foreign one. */
export interface RunFolder {
  readonly id: RunId;
  /** The folder that holds `.atlas`. */
  readonly root: string;
  readonly atlas: string;
  readonly ledger: string;
  readonly adopted: boolean;
}

export interface Loaded<S extends AnyState = AnyState> {
  readonly folder: RunFolder;
  readonly kind: AnyKind;
  readonly state: S;
  readonly headline: Headline;
  readonly tip: Tip;
}

/** Why a ledger cannot be folded. The bytes stay as they are. */
export interface Unreadable {
  readonly code: RefusalCode;
  readonly reason: string;
  readonly lastGoodSeq: number;
}

export type Load =
  | { readonly ok: true; readonly loaded: Loaded }
  | { readonly ok: false; readonly unreadable: Unreadable };

export const SNAPSHOT_BYTES_MAX = 96 * 1024 * 1024;
const snapshotName = "snapshot.json";
/** Raised with the shape of a state. Of an older one only its place in the log is believed: it is folded anew. */
const snapshotVersion = 2;

interface Snapshot {
  readonly v: number;
  readonly kind: string;
  readonly version: number;
  readonly seq: number;
  readonly sum: string;
  readonly log_bytes: number;
  readonly headline: Headline;
  readonly state: AnyState;
}

/** Total: any bytes give a run or why not. `trustSnapshot: false` folds from the first line (`doctor`). */
export function loadRun(fs: FileSystem, folder: RunFolder, trustSnapshot = true): Load {
  // The snapshot is read before the log: one written later than the log was read would look like a lost tail.
  const snapshot = readSnapshot(fs, folder);
  if (snapshot !== null && snapshot.v === snapshotVersion && trustSnapshot) {
    const quick = loadFrom(fs, folder, snapshot);
    if (quick !== null) return quick;
  }
  const load = loadFrom(fs, folder, null) as Load;
  if (!load.ok || snapshot === null) return load;
  return lostTail(fs, folder, load.loaded.tip, snapshot) ?? load;
}

/** A snapshot stands on a line that was durable: without that line the log has lost its end, or was put back. */
function lostTail(fs: FileSystem, folder: RunFolder, tip: Tip, snapshot: Snapshot): Load | null {
  if (tip.seq < snapshot.seq) {
    return unreadable("ledger.tail_lost", `lines after ${tip.seq} are lost; ${snapshot.seq} were known`, tip.seq);
  }
  const read = readLog(fs, folder.ledger, ORIGIN);
  if (read === null || "bad" in read || read.chain.lines[snapshot.seq - 1]?.sum === snapshot.sum) return null;
  return unreadable("ledger.tail_lost", `line ${snapshot.seq} is another one than was known`, snapshot.seq - 1);
}

function loadFrom(fs: FileSystem, folder: RunFolder, snapshot: Snapshot | null): Load | null {
  const kindOfSnapshot = snapshot === null ? null : kindNamed(snapshot.kind);
  if (snapshot !== null && (kindOfSnapshot === null || kindOfSnapshot.version !== snapshot.version)) return null;
  const from: Tip = snapshot === null ? ORIGIN : { seq: snapshot.seq, sum: snapshot.sum, offset: snapshot.log_bytes };
  const read = readLog<EventBase>(fs, folder.ledger, from);
  if (read === null) return snapshot === null ? unreadable("ledger.absent", "there is no log.jsonl", 0) : null;
  if ("bad" in read) return unreadable("ledger.bad_file", `log.jsonl is ${read.bad}`, 0);
  if (snapshot !== null && (read.size < from.offset || !standsOn(fs, join(folder.ledger, LOG_NAME), from, sha256)))
    return null;
  const { chain } = read;
  // Behind a snapshot a very late line of a lost race looks like rot: only a fold from the start can tell.
  if (chain.end.at === "broken" && snapshot !== null) return null;
  if (chain.end.at === "broken") {
    const where = `byte ${chain.end.offset}, after line ${chain.end.lastGoodSeq}`;
    return unreadable(
      "ledger.chain_broken",
      `a whole line follows nothing we accepted (${where})`,
      chain.end.lastGoodSeq,
    );
  }
  if (chain.end.at === "newer") {
    return unreadable("ledger.newer", `line format ${chain.end.version} needs a newer atlas`, chain.end.lastGoodSeq);
  }
  return foldLines(folder, chain.lines, chain.tip, snapshot, kindOfSnapshot);
}

function foldLines(
  folder: RunFolder,
  lines: readonly Line<EventBase>[],
  tip: Tip,
  snapshot: Snapshot | null,
  kindOfSnapshot: AnyKind | null,
): Load {
  let headline = snapshot?.headline ?? BLANK;
  let kind = kindOfSnapshot;
  let state = snapshot?.state ?? null;
  let seq = snapshot?.seq ?? 0;
  let id: string | null = snapshot === null ? null : folder.id;
  if (lines.length === 0 && state === null) return unreadable("ledger.empty", "no whole line stands in log.jsonl", 0);
  for (const line of lines) {
    try {
      id = forkedId(line) ?? id ?? line.run_id;
      if (line.run_id !== id) return unreadable("ledger.foreign_id", `line ${line.seq} belongs to another run`, seq);
      headline = applyToHeadline(headline, line);
      if (kind === null) {
        kind = kindNamed(headline.head.kind ?? "");
        if (kind === null)
          return unreadable("ledger.newer", `kind "${safeWord(headline.head.kind)}" is not known`, seq);
        state = kind.initial();
      }
      const newer = newerVersion(line, kind);
      if (newer !== null) return unreadable("ledger.newer", newer, seq);
      const odd = oddEvent(kind, line);
      if (odd !== null) return unreadable(odd.code, odd.reason, seq);
      for (const event of line.events) state = kind.apply(state as AnyState, event, line);
      seq = line.seq;
    } catch (error) {
      if (error instanceof IllegalEvent)
        return unreadable("ledger.illegal", `line ${line.seq}: ${safeWord(error.message)}`, seq);
      // A sealed line of ours with a shape we never wrote: refuse it, do not guess.
      return unreadable("ledger.malformed", `line ${line.seq} holds an event of an unknown shape`, seq);
    }
  }
  if (id !== folder.id) return unreadable("ledger.foreign_id", "its lines belong to another run id", seq);
  return { ok: true, loaded: { folder, kind: kind as AnyKind, state: state as AnyState, headline, tip } };
}

function oddEvent(kind: AnyKind, line: Line<EventBase>): Pick<Unreadable, "code" | "reason"> | null {
  for (const event of line.events) {
    const why = unfit(kind, event);
    if (why === null) continue;
    const name = `event "${safeWord(event.type)}" of line ${line.seq}`;
    if (why === "newer") return { code: "ledger.newer", reason: `${name} is not known` };
    return { code: "ledger.malformed", reason: `${name} has an odd field ${why.field}` };
  }
  return null;
}

/** A fork holds its parent's lines unchanged; the line after them gives the id that is valid from there. */
function forkedId(line: Line<EventBase>): string | null {
  const forked = line.events.find((event) => event.type === "forked") as { id?: unknown } | undefined;
  return typeof forked?.id === "string" ? forked.id : null;
}

function newerVersion(line: Line<EventBase>, kind: AnyKind): string | null {
  for (const event of line.events) {
    const version = (event as { version?: unknown }).version;
    if (event.type === "claimed" && typeof version === "number" && version > kind.version) {
      return `kind ${kind.name} version ${version} needs a newer atlas (this one knows ${kind.version})`;
    }
  }
  return null;
}

function safeWord(text: string | null): string {
  return (text ?? "").replace(/[^A-Za-z0-9 _."():-]/g, "?").slice(0, 120);
}

function unreadable(code: RefusalCode, reason: string, lastGoodSeq: number): Load & { ok: false } {
  return { ok: false, unreadable: { code, reason, lastGoodSeq } };
}

export function refuseUnreadable(folder: RunFolder, why: Unreadable): Result<never, Refusal> {
  const fix = why.code === "ledger.newer" ? "atlas doctor" : `atlas fork --run ${folder.id} --at ${why.lastGoodSeq}`;
  return refuse(why.code, `run ${folder.id} is unreadable: ${why.reason}`, fix);
}

function readSnapshot(fs: FileSystem, folder: RunFolder): Snapshot | null {
  const read = readBounded(fs, join(folder.ledger, snapshotName), SNAPSHOT_BYTES_MAX);
  if (read.kind !== "file") return null;
  const text = read.bytes.toString("utf8");
  const mark = text.lastIndexOf(',"self":"');
  if (mark < 0 || text.slice(mark + 9, mark + 73) !== sha256(`${text.slice(0, mark)}}`)) return null;
  try {
    const value = JSON.parse(text) as unknown;
    return isSnapshot(value) ? value : null;
  } catch {
    return null;
  }
}

/** What is used before the fold: anyone can hash what he wrote himself. */
function isSnapshot(value: unknown): value is Snapshot {
  if (typeof value !== "object" || value === null) return false;
  const { v, kind, version, seq, sum, log_bytes: logBytes, headline, state } = value as Record<string, unknown>;
  return (
    (v === 1 || v === snapshotVersion) &&
    typeof kind === "string" &&
    typeof version === "number" &&
    Number.isSafeInteger(seq) &&
    (seq as number) > 0 &&
    typeof sum === "string" &&
    Number.isSafeInteger(logBytes) &&
    (logBytes as number) > 0 &&
    typeof headline === "object" &&
    headline !== null &&
    typeof state === "object" &&
    state !== null
  );
}

/** Replaced atomically, never synced: losing it loses nothing. */
export function writeSnapshot(fs: FileSystem, loaded: Loaded): void {
  const { kind, tip, state, headline, folder } = loaded;
  const body: Snapshot = {
    v: snapshotVersion,
    kind: kind.name,
    version: kind.version,
    seq: tip.seq,
    sum: tip.sum,
    log_bytes: tip.offset,
    headline,
    state,
  };
  const text = JSON.stringify(body);
  if (text.length > SNAPSHOT_BYTES_MAX) return;
  try {
    replaceView(fs, join(folder.ledger, snapshotName), `${text.slice(0, -1)},"self":"${sha256(text)}"}`);
  } catch (error) {
    // The line it stands on is durable: without a snapshot the next fold begins at the first line.
    if (!(error instanceof EnvironmentFailure)) throw error;
  }
}

/** Folds one more line of our own onto what is loaded. */
export function withLine(loaded: Loaded, line: Line<EventBase>, offset: number): Loaded {
  let { state } = loaded;
  for (const event of line.events) state = loaded.kind.apply(state, event, line);
  return {
    ...loaded,
    state,
    headline: applyToHeadline(loaded.headline, line),
    tip: { seq: line.seq, sum: line.sum, offset },
  };
}
