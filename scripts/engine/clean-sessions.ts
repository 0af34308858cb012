/**
 * Records of sessions that have ended and whose process is gone. They count for nothing any more.
 *
 * What a failure leaves behind: a record without its mark; the next call removes it.
 */
import { join } from "node:path";
import { isSessionId } from "../core/ids.ts";
import { couldLive } from "../core/owner.ts";
import { entryKind, errno, listFolder, removeQuietly } from "../platform/files.ts";
import { livingStart } from "../platform/processes.ts";
import { readSession, type SessionRecord, stateFolder } from "../platform/sessions.ts";
import { type Others, sweepTemporary } from "./clean-leftovers.ts";
import { type Sweep, sweepAway } from "./clean-sweep.ts";
import type { Engine } from "./context.ts";

/** More records than anybody's year holds; the rest waits for the next call. */
const recordsMax = 20_000;

export function sweepSessions(engine: Engine, others: Others, sweep: Sweep): void {
  const { fs } = engine;
  const state = stateFolder(engine.environment);
  if (state === null || entryKind(fs, state) !== "folder") return;
  const sessions = join(state, "sessions");
  if (entryKind(fs, sessions) !== "folder") return;
  for (const name of listFolder(fs, sessions).slice(0, recordsMax)) {
    const session = name.endsWith(".json") ? name.slice(0, -".json".length) : "";
    const record = isSessionId(session) ? readSession(fs, state, session) : null;
    if (record === null || !record.ended || !isGone(engine, record)) continue;
    sweepAway(sweep, join(sessions, name), () => {
      forget(engine, state, record);
      fs.unlinkSync(join(sessions, name));
    });
  }
  const places = ["runs", "witness"].flatMap((name) => {
    const known = join(state, name);
    return entryKind(fs, known) === "folder" ? listFolder(fs, known).map((place) => join(known, place)) : [];
  });
  const listed = join(state, "listed");
  const memories = entryKind(fs, listed) === "folder" ? [listed] : [];
  sweepTemporary(engine, [sessions, ...memories, ...places], others, sweep);
}

/** A record of a process that could not be told says nothing about whether it lives: it stays. */
function isGone(engine: Engine, record: SessionRecord): boolean {
  if (record.pid === null || record.start === null) return false;
  return !couldLive(record, livingStart(engine.processes, record.pid));
}

/** The mark of the process's session, and its folder with the last one. */
function forget(engine: Engine, state: string, record: SessionRecord): void {
  const marks = join(state, "by-process", String(record.pid));
  if (entryKind(engine.fs, marks) !== "folder") return;
  removeQuietly(engine.fs, join(marks, record.session));
  try {
    engine.fs.rmdirSync(marks);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(errno(error))) throw error;
  }
}
