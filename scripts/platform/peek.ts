/**
 * A cheap look at a run folder, for hooks and lists: which run, how far, whose. Reads only, follows no link, throws
 * only for a failing disk. Whatever lies there gives an answer; what cannot be read is named by a code.
 */
import { join } from "node:path";
import { applyToHeadline, BLANK } from "../core/headline.ts";
import type { RunId } from "../core/ids.ts";
import { LINE_BYTES_MAX, LOG_BYTES_MAX, ORIGIN, readChain, type Tip } from "../core/line.ts";
import { compareRuns } from "../core/order.ts";
import type { Owner } from "../core/owner.ts";
import type { RefusalCode } from "../core/result.ts";
import { isChangeStage, isWeaveStage } from "../core/stage-names.ts";
import { type BadFile, entryKind, type Read, readBounded, readPrefix } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { listRuns } from "./listing.ts";
import { type ForeignWord, firstObject, foldForeign, isSealed, objectOf } from "./peek-foreign.ts";
import { readLongLog } from "./peek-long.ts";
import { progressOf, spokenKind, spokenStage } from "./spoken.ts";

/** What a hook reads of one log, or of what lies behind its snapshot; beyond it the stage is "unknown". */
export const HOOK_LOG_BYTES_MAX = 1024 * 1024;
/** What a hook opens of one place; the rest is a number. */
export const HOOK_RUNS_MAX = 1000;
/** What a hook reads of one place, all its runs together: a repository may bring a thousand logs of a megabyte. */
export const HOOK_PLACE_BYTES_MAX = 16 * 1024 * 1024;
const stateBytesMax = 1024 * 1024;
const dagTailBytes = 64;

export interface PeekedRun {
  readonly id: RunId;
  /** `.atlas/<id>` */
  readonly folder: string;
  /** Where our own files of this run lie; null for a foreign run nobody has adopted. */
  readonly home: string | null;
  readonly origin: "atlas" | "kimi-atlas";
  /** `change`, `weave`, `flow`, `branch` or `unknown`. */
  readonly kind: string;
  /** A known stage, `none` or `unknown`: safe to print. */
  readonly stage: string;
  readonly refine: number;
  readonly done: number;
  readonly total: number | null;
  readonly terminal: boolean;
  readonly owner: Owner | null;
  readonly epoch: number;
  readonly released: boolean;
  /** Null: readable. `ledger.newer` is readable by a newer atlas. */
  readonly unreadable: RefusalCode | null;
  readonly graph: boolean;
  /** Time of the last line. Orders runs, decides nothing inside one. */
  readonly ts: string | null;
  /** False: another user's folder. */
  readonly trusted: boolean;
  /** Our log, where its chain stands, and from which line on it was read; null where we have none or could not read it. */
  readonly ours: { readonly log: string; readonly tip: Tip; readonly from: Tip } | null;
}

/**
 * Ids in `.atlas` without a finished mark, ascending; two `readdir`s, no run's file opened. With the user's state
 * folder a look at a large place is remembered there.
 */
export function unfinishedIds(fs: FileSystem, atlas: string, state: string | null = null): readonly RunId[] {
  return listRuns(fs, atlas, state).open;
}

/** Runs of `.atlas` that are not finished, newest first, and how many folders were left unopened. */
export function peekUnfinished(
  fs: FileSystem,
  atlas: string,
  uid: number | null,
  runsMax: number = HOOK_RUNS_MAX,
  bytesMax: number = HOOK_LOG_BYTES_MAX,
  state: string | null = null,
): { readonly runs: readonly PeekedRun[]; readonly unopened: number } {
  // Own ids begin with their time, so the newest come first where not all can be opened.
  const ids = [...unfinishedIds(fs, atlas, state)].reverse();
  const runs: PeekedRun[] = [];
  let bytesRead = 0;
  const counting: FileSystem = {
    ...fs,
    readSync: (...words) => {
      const got = fs.readSync(...words);
      bytesRead += got;
      return got;
    },
  };
  let opened = 0;
  while (opened < Math.min(runsMax, ids.length) && bytesRead < HOOK_PLACE_BYTES_MAX) {
    const run = peekRun(counting, atlas, ids[opened] as RunId, uid, bytesMax);
    opened += 1;
    if (run !== null && !run.terminal) runs.push(run);
  }
  return { runs: runs.sort(compareRuns), unopened: ids.length - opened };
}

/** One run; null when the folder holds none (or does not exist). */
export function peekRun(
  fs: FileSystem,
  atlas: string,
  id: RunId,
  uid: number | null,
  bytesMax: number = HOOK_LOG_BYTES_MAX,
): PeekedRun | null {
  const folder = join(atlas, id);
  let trusted: boolean;
  try {
    const stat = fs.lstatSync(folder);
    if (stat.isSymbolicLink()) return nothingKnown(id, folder, "ledger.linked");
    if (!stat.isDirectory()) return null;
    trusted = uid === null || stat.uid === uid;
  } catch {
    return null;
  }
  const graph = entryKind(fs, join(folder, "plan.dag.json")) !== "absent";
  const log = join(folder, "log.jsonl");
  const read = readBounded(fs, log, bytesMax);
  const adopted = join(folder, "adopted");
  const base = { ...nothingKnown(id, folder, null), trusted, graph };
  if (entryKind(fs, join(adopted, "log.jsonl")) !== "absent") {
    if (entryKind(fs, adopted) !== "folder") return { ...base, unreadable: "ledger.linked" };
    const adoptedLog = join(adopted, "log.jsonl");
    const foreign = read.kind === "file" ? foldForeign(textOf(read), null) : null;
    const ours = readBounded(fs, adoptedLog, bytesMax);
    return peekOwn(fs, { ...base, home: adopted }, adoptedLog, ours, foreign, bytesMax);
  }
  if (read.kind === "bad") {
    if (read.why !== "too large") return { ...base, unreadable: badFile[read.why] };
    const start = readPrefix(fs, log, LINE_BYTES_MAX + 1)?.toString("utf8") ?? "";
    if (isSealed(firstObject(start))) return peekOwn(fs, { ...base, home: folder }, log, read, null, bytesMax);
    // An original whose log nobody reads goes on from its state.json; ours has nothing else.
    if (isBeyondReading(fs, log)) return peekForeign(fs, base, read, "");
    return { ...base, kind: graph ? "weave" : "unknown", stage: "unknown" };
  }
  const text = read.kind === "file" ? textOf(read) : "";
  if (read.kind === "file" && isSealed(firstObject(text)))
    return peekOwn(fs, { ...base, home: folder }, log, read, null, bytesMax);
  return peekForeign(fs, base, read, text);
}

function peekOwn(
  fs: FileSystem,
  base: PeekedRun,
  log: string,
  read: Read,
  foreign: ForeignWord | null,
  bytesMax: number,
): PeekedRun {
  if (read.kind === "absent") return { ...base, unreadable: "ledger.unreadable" };
  if (read.kind === "bad" && (read.why !== "too large" || isBeyondReading(fs, log)))
    return { ...base, unreadable: badFile[read.why] };
  const standing =
    read.kind === "file" ? { headline: BLANK, from: ORIGIN, bytes: read.bytes } : readLongLog(fs, log, bytesMax);
  if (standing === null) return { ...base, stage: "unknown" };
  const { from } = standing;
  // A look decides nothing; hashing would load a module that costs a hook more than reading the whole log.
  const chain = readChain<{ readonly type: string }>(standing.bytes, null, from);
  // Behind a snapshot a lost race of an earlier writer looks like rot.
  if (chain.end.at === "broken" && from.seq > 0) return { ...base, stage: "unknown" };
  let { headline } = standing;
  let unreadable: RefusalCode | null = null;
  try {
    for (const line of chain.lines) headline = applyToHeadline(headline, line);
  } catch {
    unreadable = "ledger.illegal";
  }
  if (chain.end.at === "broken") unreadable = "ledger.chain_broken";
  else if (chain.end.at === "newer") unreadable = "ledger.newer";
  else if (headline.head.kind === null) unreadable ??= "ledger.unreadable";
  const { head } = headline;
  const owner = head.owner === null ? null : soundOwner(head.owner);
  if (head.owner !== null && owner === null) unreadable ??= "ledger.illegal";
  const kind = spokenKind(head.kind);
  // A REFINE of ours takes back what the foreign log had done.
  const before = headline.refinePasses > 0 ? [] : (foreign?.done ?? []);
  const progress = progressOf(kind, [...before, ...headline.done]);
  return {
    ...base,
    origin: head.origin === "kimi-atlas" ? "kimi-atlas" : "atlas",
    kind,
    stage: spokenStage(headline.stage ?? foreign?.stage),
    refine: headline.refinePasses + (foreign?.refine ?? 0),
    ...progress,
    terminal: headline.terminal && unreadable === null,
    owner,
    epoch: head.epoch,
    released: head.released,
    unreadable,
    graph: base.graph || kind === "weave",
    ts: headline.lastTs,
    ours: unreadable === null ? { log, tip: chain.tip, from } : null,
  };
}

function peekForeign(fs: FileSystem, base: PeekedRun, read: Read, text: string): PeekedRun | null {
  const stateFile = readBounded(fs, join(base.folder, "state.json"), stateBytesMax);
  if (read.kind === "absent" && stateFile.kind === "absent") return null;
  const state = stateFile.kind === "file" ? objectOf(textOf(stateFile)) : null;
  const kind = base.graph ? "weave" : "change";
  // Our own view names its kind, the original's does not: a ledger of ours that lost its log is not a foreign run.
  const word = typeof state?.kind === "string" ? null : foldForeign(text, state);
  if (word === null) return { ...base, kind, unreadable: "ledger.unreadable" };
  return {
    ...base,
    origin: "kimi-atlas",
    kind,
    stage: word.stage === null ? "unknown" : spokenStage(word.stage),
    refine: word.refine,
    ...progressOf(kind, word.done),
    terminal: word.terminal,
    unreadable: word.terminal ? null : notAdoptable(fs, base, word, state?.current_state),
    ts: word.lastTs,
  };
}

/** Why a resume would not take an original's run up, as far as a short look tells; null: nothing is known against it. */
function notAdoptable(fs: FileSystem, base: PeekedRun, word: ForeignWord, shown: unknown): RefusalCode | null {
  if (base.graph) return dagFault(fs, join(base.folder, "plan.dag.json"));
  if ([...word.done, shown].some((stage) => stage !== "OUTPUT" && isWeaveStage(stage))) return "dag.missing";
  return isChangeStage(word.stage) ? null : "adopt.unknown_stage";
}

/** A graph may be megabytes: only its end is looked at, where a torn writing shows. */
function dagFault(fs: FileSystem, path: string): RefusalCode | null {
  const size = sizeOf(fs, path);
  if (size === null) return "dag.unreadable";
  const tail = readPrefix(fs, path, dagTailBytes, Math.max(0, size - dagTailBytes));
  if (tail === null) return "dag.unreadable";
  const text = tail.toString("latin1").trimEnd();
  // White space only says nothing, unless it is all there is.
  if (text === "" && size > dagTailBytes) return null;
  return text.endsWith("}") ? null : "dag.torn";
}

function isBeyondReading(fs: FileSystem, log: string): boolean {
  return (sizeOf(fs, log) ?? 0) > LOG_BYTES_MAX;
}

function sizeOf(fs: FileSystem, path: string): number | null {
  try {
    return fs.lstatSync(path).size;
  } catch {
    return null;
  }
}

function nothingKnown(id: RunId, folder: string, unreadable: RefusalCode | null): PeekedRun {
  return {
    id,
    folder,
    home: null,
    origin: "atlas",
    kind: "unknown",
    stage: "none",
    refine: 0,
    done: 0,
    total: null,
    terminal: false,
    owner: null,
    epoch: 0,
    released: false,
    unreadable,
    graph: false,
    ts: null,
    trusted: true,
    ours: null,
  };
}

const badFile: Readonly<Record<BadFile, RefusalCode>> = {
  "a link": "ledger.linked",
  "a folder": "ledger.not_a_file",
  "not a regular file": "ledger.not_a_file",
  unreadable: "ledger.unreadable",
  "too large": "ledger.too_large",
};

/** An owner as a ledger may hold it: its pid becomes a path, so it is looked at before it is used. */
function soundOwner(value: Owner): Owner | null {
  if (typeof value !== "object" || value === null) return null;
  const texts = [value.machine, value.boot, value.namespace, value.start, value.session];
  if (!texts.every((text) => text === null || typeof text === "string")) return null;
  if (typeof value.host !== "string") return null;
  if (value.pid !== null && !(Number.isSafeInteger(value.pid) && value.pid > 0)) return null;
  return value.uid === null || Number.isSafeInteger(value.uid) ? value : null;
}

function textOf(read: { readonly bytes: Buffer }): string {
  return read.bytes.toString("utf8");
}
