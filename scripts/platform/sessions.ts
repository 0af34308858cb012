/**
 * What is known of a host's session: `<state>/sessions/<session>.json`, and beside it `by-process/<pid>/<session>`,
 * an empty file that spares a look-up the reading of every record ever made.
 *
 * What a failure leaves behind: nothing or the old record. Never synced, never waited for; a state folder that
 * cannot be written is skipped, and the session goes on without. A record is a hint, not truth.
 */
import { isAbsolute, join } from "node:path";
import { isRunId, isSessionId, type RunId } from "../core/ids.ts";
import { entryKind, listFolder, makeFolder, readBounded, removeQuietly, writeNew } from "./files.ts";
import type { FileSystem } from "./fs.ts";

export const SESSION_RECORD_BYTES_MAX = 4096;
const runsMax = 16;
const placesMax = 8;
const typedMax = 8;
const chosenMax = 4;
const pathCharsMax = 1024;

export interface SeenRun {
  /** The folder that holds `.atlas`. */
  readonly root: string;
  readonly id: RunId;
}

export interface TypedAnswer {
  readonly nonce: string;
  readonly choice: string;
}

/** An option the human chose in the host's own question. */
export interface ChosenAnswer extends TypedAnswer {
  /** sha-256 of what the host showed: question, options, what they mean. */
  readonly asked: string;
  /** The host's process: one that an agent started may go on with the same session. */
  readonly pid: number;
  readonly start: string;
}

/** A turn's end that was not let pass. */
export interface Nudge {
  readonly run: RunId;
  /** The run's last line then. */
  readonly seq: number;
}

export type Channel = "start" | "prompt";

export interface SessionRecord {
  readonly host: string;
  readonly session: string;
  /** The host's own process; null where it could not be told. */
  readonly pid: number | null;
  readonly start: string | null;
  /** The cwd SessionStart named. */
  readonly cwd: string;
  /** Roots in which `.atlas` folders were found, oldest first. */
  readonly places: readonly string[];
  /** Unfinished runs this session has seen, oldest first: one that vanishes is named. */
  readonly runs: readonly SeenRun[];
  readonly compactions: number;
  /** With which event the last pointer that names a command went out. */
  readonly told?: Channel;
  /** The one after which a command followed: it reached the model. */
  readonly heard?: Channel;
  /** The pointer is still to be said, with the next prompt. */
  readonly owed: boolean;
  /** Answers the human typed into this session's prompts, oldest first; a repository cannot forge them. */
  readonly typed: readonly TypedAnswer[];
  /** Options the human chose in this session's questions, oldest first. */
  readonly chosen: readonly ChosenAnswer[];
  /** The last turn's end that was held up; null: none yet. */
  readonly nudged: Nudge | null;
  readonly ended: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `$XDG_STATE_HOME/atlas` or `~/.local/state/atlas`; null where neither is known. */
export function stateFolder(env: Environment): string | null {
  const named = env.XDG_STATE_HOME;
  if (named !== undefined && isAbsolute(named)) return join(named, "atlas");
  const home = env.HOME ?? env.USERPROFILE;
  return home !== undefined && isAbsolute(home) ? join(home, ".local", "state", "atlas") : null;
}

/** The record of a session; null when there is none or what lies there is not one. */
export function readSession(fs: FileSystem, state: string | null, session: string): SessionRecord | null {
  if (state === null || !isSessionId(session) || !isOwnFolder(fs, state)) return null;
  const read = readBounded(fs, recordPath(state, session), SESSION_RECORD_BYTES_MAX);
  if (read.kind !== "file") return null;
  try {
    const record = soundRecord(JSON.parse(read.bytes.toString("utf8")));
    return record?.session === session ? record : null;
  } catch {
    return null;
  }
}

/** Replaces the record; false when that was not possible. Drops its oldest runs and places to stay in its limit. */
export function writeSession(fs: FileSystem, state: string | null, record: SessionRecord): boolean {
  if (state === null || !isSessionId(record.session) || !isPath(record.cwd)) return false;
  const text = bounded(record);
  if (text === null) return false;
  try {
    if (entryKind(fs, state) === "link") return false;
    makeFolder(fs, join(state, "sessions"));
    if (!isOwnFolder(fs, state)) return false;
    const path = recordPath(state, record.session);
    const before = readBounded(fs, path, SESSION_RECORD_BYTES_MAX);
    if (before.kind === "bad" && before.why !== "too large") return false;
    if (before.kind !== "file" || before.bytes.toString("utf8") !== text) replaceQuickly(fs, path, text);
    mark(fs, state, record);
    return true;
  } catch {
    return false;
  }
}

/** Marks a session ended: it no longer counts for its process. */
export function endSession(fs: FileSystem, state: string | null, session: string): void {
  const record = readSession(fs, state, session);
  if (record === null || record.ended) return;
  writeSession(fs, state, { ...record, ended: true, owed: false });
}

/** The living sessions of a host process, by session id. */
export function sessionsOfProcess(
  fs: FileSystem,
  state: string | null,
  pid: number,
  start: string,
): readonly SessionRecord[] {
  if (state === null || !isOwnFolder(fs, state)) return [];
  const folder = processFolder(state, pid);
  if (entryKind(fs, folder) !== "folder") return [];
  const records = listFolder(fs, folder).map((session) => readSession(fs, state, session));
  return records.filter((record) => record !== null && isOf(record, pid, start) && !record.ended) as SessionRecord[];
}

function isOf(record: SessionRecord, pid: number, start: string): boolean {
  return record.pid === pid && record.start === start;
}

function mark(fs: FileSystem, state: string, record: SessionRecord): void {
  if (record.pid === null || record.start === null) return;
  const folder = processFolder(state, record.pid);
  makeFolder(fs, folder);
  for (const session of listFolder(fs, folder)) {
    if (session === record.session) return;
    // The pid once belonged to another process: its sessions are not ours.
    const other = readSession(fs, state, session);
    if (other === null || !isOf(other, record.pid, record.start)) removeQuietly(fs, join(folder, session));
  }
  writeNew(fs, join(folder, record.session), "", false);
}

/** As `replaceFile`, with a name that needs no random bytes: loading their module is dear to a hook. */
function replaceQuickly(fs: FileSystem, path: string, text: string): void {
  const temporary = `${path}.${process.pid}-${process.hrtime().join("-")}`;
  writeNew(fs, temporary, text, false);
  try {
    fs.renameSync(temporary, path);
  } catch (error) {
    removeQuietly(fs, temporary);
    throw error;
  }
}

function recordPath(state: string, session: string): string {
  return join(state, "sessions", `${session}.json`);
}

function processFolder(state: string, pid: number): string {
  return join(state, "by-process", String(pid));
}

/** The user may link his state folder elsewhere; below it, a link is not ours. */
function isOwnFolder(fs: FileSystem, state: string): boolean {
  return entryKind(fs, state) === "folder" && entryKind(fs, join(state, "sessions")) === "folder";
}

function bounded(record: SessionRecord): string | null {
  let runs = record.runs.slice(-runsMax);
  let places = record.places.filter((place) => place.length <= pathCharsMax).slice(-placesMax);
  for (;;) {
    const [typed, chosen] = [record.typed.slice(-typedMax), record.chosen.slice(-chosenMax)];
    const text = `${JSON.stringify({ v: 1, ...record, runs, places, typed, chosen })}\n`;
    if (Buffer.byteLength(text) <= SESSION_RECORD_BYTES_MAX) return text;
    if (runs.length > 0) runs = runs.slice(1);
    else if (places.length > 0) places = places.slice(1);
    else return null;
  }
}

function soundRecord(value: unknown): SessionRecord | null {
  if (typeof value !== "object" || value === null) return null;
  const raw = value as Record<string, unknown>;
  if (raw.v !== 1 || typeof raw.host !== "string" || !isSessionId(raw.session)) return null;
  if (raw.pid !== null && !isPid(raw.pid)) return null;
  if (raw.start !== null && typeof raw.start !== "string") return null;
  if (!isPath(raw.cwd) || !Array.isArray(raw.places) || !Array.isArray(raw.runs)) return null;
  if (!Number.isSafeInteger(raw.compactions) || typeof raw.owed !== "boolean" || typeof raw.ended !== "boolean") {
    return null;
  }
  return {
    host: raw.host,
    session: raw.session,
    pid: raw.pid,
    start: raw.start as string | null,
    cwd: raw.cwd,
    places: raw.places.filter(isPath).slice(-placesMax),
    runs: raw.runs.filter(isSeenRun).slice(-runsMax),
    compactions: raw.compactions as number,
    ...(isChannel(raw.told) ? { told: raw.told } : {}),
    ...(isChannel(raw.heard) ? { heard: raw.heard } : {}),
    owed: raw.owed,
    typed: Array.isArray(raw.typed) ? raw.typed.filter(isTypedAnswer).slice(-typedMax) : [],
    chosen: Array.isArray(raw.chosen) ? raw.chosen.filter(isChosenAnswer).slice(-chosenMax) : [],
    nudged: isNudge(raw.nudged) ? raw.nudged : null,
    ended: raw.ended,
  };
}

function isSeenRun(value: unknown): value is SeenRun {
  const run = value as { readonly root?: unknown; readonly id?: unknown } | null;
  return typeof run === "object" && run !== null && isPath(run.root) && isRunId(run.id);
}

function isTypedAnswer(value: unknown): value is TypedAnswer {
  const answer = value as { readonly nonce?: unknown; readonly choice?: unknown } | null;
  if (typeof answer !== "object" || answer === null) return false;
  const { nonce, choice } = answer;
  return (
    typeof nonce === "string" &&
    /^[0-9a-f]{8}$/.test(nonce) &&
    typeof choice === "string" &&
    /^[a-z][a-z0-9:-]{0,31}$/.test(choice)
  );
}

export function isChosenAnswer(value: unknown): value is ChosenAnswer {
  if (!isTypedAnswer(value)) return false;
  const { asked, pid, start } = value as Partial<ChosenAnswer>;
  return typeof asked === "string" && /^[0-9a-f]{64}$/.test(asked) && isPid(pid) && typeof start === "string";
}

function isPid(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isNudge(value: unknown): value is Nudge {
  const nudge = value as Partial<Nudge> | null;
  return typeof nudge === "object" && nudge !== null && isRunId(nudge.run) && Number.isSafeInteger(nudge.seq);
}

function isChannel(value: unknown): value is Channel {
  return value === "start" || value === "prompt";
}

function isPath(value: unknown): value is string {
  return typeof value === "string" && isAbsolute(value) && value.length <= pathCharsMax && !value.includes("\0");
}
