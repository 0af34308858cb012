/**
 * The original's `log.jsonl`: one JSON object a line, no sequence number, no sum. Read tolerantly, in linear time:
 * a damaged line is counted and passed over, and a whole record that was appended to a fragment is found again.
 */
import { isIsoTime } from "../../core/order.ts";
import { isStageName, isWeaveStage, type StageName } from "../../core/stage-names.ts";
import { isBlankByte, isRecord, parseTolerant } from "../../core/tolerant-json.ts";

/** Far above any line of the original; longer ones are damage. */
export const ORIGINAL_LINE_BYTES_MAX = 1024 * 1024;
/** Beyond these a log is noise, and reading it would take minutes. */
export const ORIGINAL_LINES_MAX = 1_000_000;
export const DAMAGED_LINES_MAX = 10_000;

/** `unknown` stands for every name that is none of the seed's. */
export type ReadStage = StageName | "unknown";

export interface PendingRollback {
  /** Lower-case hex, or null: the file held something else. */
  readonly targetSha: string | null;
  readonly targetStage: ReadStage;
}

export interface OriginalLog {
  /** The stage completed last, rollbacks counted in; null: no line names one. */
  readonly stage: ReadStage | null;
  /** The terminal word besides OUTPUT that the original knows. */
  readonly saysDone: boolean;
  /** Lines that complete REFINE. */
  readonly refinePasses: number;
  /** Names completed, each once, in order of first completion. */
  readonly stages: readonly StageName[];
  readonly lastTs: string | null;
  readonly pendingRollback: PendingRollback | null;
  /** Run ids the lines give, at most three. */
  readonly runIds: readonly string[];
  readonly damagedLines: number;
  /** What stands after the last whole record, when the log ends torn. */
  readonly tail: string | null;
  /** More damaged or more lines than a log can have: the rest was not read. */
  readonly hopeless: boolean;
}

interface Draft {
  stage: ReadStage | null;
  saysDone: boolean;
  refinePasses: number;
  stages: Set<StageName>;
  lastTs: string | null;
  pendingRollback: PendingRollback | null;
  runIds: Set<string>;
  damagedLines: number;
  tail: string | null;
  hopeless: boolean;
}

/** Total over any bytes. */
export function readOriginalLog(bytes: Uint8Array): OriginalLog {
  const draft = emptyDraft();
  let lines = 0;
  for (const line of linesOf(bytes)) {
    lines += 1;
    takeLine(draft, line);
    if (draft.damagedLines > DAMAGED_LINES_MAX || lines > ORIGINAL_LINES_MAX) {
      draft.hopeless = true;
      break;
    }
  }
  return { ...draft, stages: [...draft.stages], runIds: [...draft.runIds] };
}

/**
 * Whether a log was written by the original: its first parseable line has no `sum`. Where none parses, it is ours
 * only if it begins as our lines do. `firstBytes`: enough for one whole line.
 */
export function isOriginalLog(firstBytes: Uint8Array): boolean {
  let tries = 0;
  for (const line of linesOf(firstBytes)) {
    const record = parseRecord(line.bytes);
    if (record !== null) return !Object.hasOwn(record, "sum");
    tries += 1;
    if (tries > DAMAGED_LINES_MAX) break;
  }
  return !/^\s*\{"v":/.test(new TextDecoder().decode(firstBytes.subarray(0, 64)));
}

/** A commit's or tree's name, or null. Anything else could be read as an option by a command. */
export function asSha(value: unknown): string | null {
  return typeof value === "string" && /^[0-9a-f]{7,64}$/.test(value) ? value : null;
}

export function asStage(name: unknown): ReadStage {
  return isStageName(name) ? name : "unknown";
}

/** Whether any stage shows that a run drained a plan-DAG. OUTPUT is common to both kinds. */
export function hasWeaveStage(names: Iterable<unknown>): boolean {
  for (const name of names) if (name !== "OUTPUT" && isWeaveStage(name)) return true;
  return false;
}

/** How the original's serializer opens every record. */
const recordStart = '{"run_id":';

interface RawLine {
  readonly bytes: Uint8Array;
  /** NULs stood around it: bytes were lost here. */
  readonly padded: boolean;
}

function* linesOf(bytes: Uint8Array): Generator<RawLine> {
  let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  while (at < bytes.length) {
    let padded = false;
    while (at < bytes.length && isBlankByte(bytes[at])) {
      padded ||= bytes[at] === 0;
      at += 1;
    }
    if (at === bytes.length) {
      if (padded) yield { bytes: bytes.subarray(at), padded };
      return;
    }
    const newline = bytes.indexOf(0x0a, at);
    const stop = newline < 0 ? bytes.length : newline;
    let end = stop;
    while (isBlankByte(bytes[end - 1])) {
      padded ||= bytes[end - 1] === 0;
      end -= 1;
    }
    yield { bytes: bytes.subarray(at, end), padded };
    at = stop;
  }
}

function takeLine(draft: Draft, line: RawLine): void {
  const record = parseRecord(line.bytes);
  if (line.padded || record === null) draft.damagedLines += 1;
  if (record !== null) {
    takeRecord(draft, record);
    return;
  }
  const text = new TextDecoder().decode(line.bytes.subarray(0, ORIGINAL_LINE_BYTES_MAX));
  // Two ways a record survives in a damaged line: appended to a fragment, or whole but for bytes inside a text.
  const joint = text.lastIndexOf(recordStart);
  const saved = joint < 0 ? null : parseRecord(new TextEncoder().encode(text.slice(joint)));
  draft.tail = saved === null ? text : text.slice(0, joint);
  if (saved !== null) takeRecord(draft, saved);
}

function takeRecord(draft: Draft, record: Readonly<Record<string, unknown>>): void {
  draft.tail = null;
  if (isIsoTime(record.ts)) draft.lastTs = record.ts;
  if (typeof record.run_id === "string" && draft.runIds.size < 3) draft.runIds.add(record.run_id);
  if (record.stage === "ROLLBACK") takeRollback(draft, record);
  else if (typeof record.stage === "string") {
    draft.stage = asStage(record.stage);
    draft.saysDone = record.stage === "DONE";
    if (record.stage === "REFINE") draft.refinePasses += 1;
    if (isStageName(record.stage)) draft.stages.add(record.stage);
  }
}

function takeRollback(draft: Draft, record: Readonly<Record<string, unknown>>): void {
  if (record.event === "rollback_intent") {
    draft.pendingRollback = { targetSha: asSha(record.target_sha), targetStage: asStage(record.target_stage) };
  } else if (record.event === "rollback_complete") {
    draft.pendingRollback = null;
    draft.stage = asStage(record.target_stage);
    draft.saysDone = false;
  }
}

function parseRecord(bytes: Uint8Array): Readonly<Record<string, unknown>> | null {
  if (bytes[0] !== 0x7b || bytes.length > ORIGINAL_LINE_BYTES_MAX) return null;
  const parsed = parseTolerant(bytes);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : null;
}

function emptyDraft(): Draft {
  return {
    stage: null,
    saysDone: false,
    refinePasses: 0,
    stages: new Set(),
    lastTs: null,
    pendingRollback: null,
    runIds: new Set(),
    damagedLines: 0,
    tail: null,
    hopeless: false,
  };
}
