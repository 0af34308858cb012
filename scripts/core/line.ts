/**
 * One ledger line and the chain of lines.
 *
 * What a failure leaves behind: a torn write is a fragment whose sum does not match; it is skipped and
 * nobody was told it succeeded. A lost race is a whole line whose `seq` is already taken; it stays as noise.
 * A whole line that follows nothing we accepted is rot, never noise: reading stops there and says so.
 */

/** Hex sha-256 of bytes; handed in, because this floor has no node. */
export type Hash = (bytes: Uint8Array | string) => string;

export const LINE_VERSION = 1;
/** A line, its two newlines apart. Larger things are artifacts named by hash. */
export const LINE_BYTES_MAX = 64 * 1024;
/** A log; one `abandoned` line must still fit. */
export const LOG_BYTES_MAX = 64 * 1024 * 1024;
export const NO_SUM = "0".repeat(64);

export interface LineBy {
  readonly verb: string;
  readonly pid: number;
  readonly session: string | null;
  readonly epoch: number;
}

/** What is sealed; key order here is the order on disk. */
export interface LineBody<E> {
  readonly v: number;
  readonly seq: number;
  readonly prev: string;
  readonly ts: string;
  readonly run_id: string;
  readonly stage?: string;
  readonly by: LineBy;
  readonly events: readonly E[];
}

export interface Line<E> extends LineBody<E> {
  readonly sum: string;
}

const sumMark = ',"sum":"';
const sumTail = /,"sum":"([0-9a-f]{64})"\}$/;
/** Of the tail: no line is shorter. */
const sumTailBytes = 74;

/** The exact bytes (no newline) of a line. `sum` is last: the hash of everything before its comma. */
export function sealLine<E>(body: LineBody<E>, hash: Hash): { readonly text: string; readonly sum: string } {
  const { v, seq, prev, ts, run_id, stage, by, events } = body;
  const open = JSON.stringify({
    v,
    seq,
    prev,
    ts,
    run_id,
    ...(stage === undefined ? {} : { stage }),
    by,
    events,
  }).slice(0, -1);
  const sum = hash(open);
  return { text: `${open}${sumMark}${sum}"}`, sum };
}

/** Where reading stands. `offset` is the byte after the last accepted line (its newline included if there). */
export interface Tip {
  readonly seq: number;
  readonly sum: string;
  readonly offset: number;
}

export const ORIGIN: Tip = { seq: 0, sum: NO_SUM, offset: 0 };

export type ChainEnd =
  | { readonly at: "end" }
  /** A self-consistent line that follows nothing accepted: rot. */
  | { readonly at: "broken"; readonly offset: number; readonly lastGoodSeq: number }
  /** Sealed by a newer atlas. */
  | { readonly at: "newer"; readonly version: number; readonly lastGoodSeq: number };

export interface Chain<E> {
  readonly lines: readonly Line<E>[];
  readonly tip: Tip;
  readonly end: ChainEnd;
  /** Fragments and lost races skipped on the way. */
  readonly noise: number;
}

const newline = 0x0a;
const carriageReturn = 0x0d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const comma = 0x2c;

/**
 * Reads lines from `bytes`, which begin at file offset `from.offset`.
 * Total: any bytes give a chain. `known` holds the sums accepted before `from` that the caller still has;
 * without it a lost race before the tip cannot be told from rot, so only `from.sum` counts.
 * Without a hash, sums are taken as they stand: enough for a hint, never for a decision.
 */
export function readChain<E>(
  bytes: Uint8Array,
  hash: Hash | null,
  from: Tip = ORIGIN,
  known: readonly string[] = [],
): Chain<E> {
  const accepted = new Set<string>([NO_SUM, from.sum, ...known]);
  const lines: Line<E>[] = [];
  let tip = from;
  let noise = 0;
  let start = 0;
  const decoder = new TextDecoder("utf-8");
  while (start < bytes.length) {
    const stop = lineEnd(bytes, start);
    let end = stop;
    if (end > start && bytes[end - 1] === carriageReturn) end -= 1;
    const next = Math.min(stop + 1, bytes.length);
    if (end > start) {
      const size = end - start;
      const couldBe = size > sumTailBytes && size <= LINE_BYTES_MAX && bytes[start] === openBrace;
      const line = couldBe ? unseal<E>(bytes.subarray(start, end), decoder, hash) : null;
      if (line === null) noise += 1;
      else if (line.v > LINE_VERSION) {
        return { lines, tip, noise, end: { at: "newer", version: line.v, lastGoodSeq: tip.seq } };
      } else if (line.seq === tip.seq + 1 && line.prev === tip.sum) {
        lines.push(line);
        accepted.add(line.sum);
        tip = { seq: line.seq, sum: line.sum, offset: from.offset + next };
      } else if (accepted.has(line.prev)) noise += 1;
      else return { lines, tip, noise, end: { at: "broken", offset: from.offset + start, lastGoodSeq: tip.seq } };
    }
    start = next;
  }
  return { lines, tip, noise, end: { at: "end" } };
}

/**
 * Sums of the lines that lead to the one with `sum`, as far as `bytes` hold them: what was accepted before it. Lines of
 * lost races, to which nothing leads, are left out.
 */
export function sumsBefore(bytes: Uint8Array, hash: Hash, sum: string): readonly string[] {
  const before = new Map<string, string>();
  const decoder = new TextDecoder("utf-8");
  for (let start = 0, stop = 0; start < bytes.length; start = stop + 1) {
    stop = lineEnd(bytes, start);
    const end = stop > start && bytes[stop - 1] === carriageReturn ? stop - 1 : stop;
    const couldBe = end - start > sumTailBytes && bytes[start] === openBrace;
    const line = couldBe ? unseal<unknown>(bytes.subarray(start, end), decoder, hash) : null;
    if (line !== null) before.set(line.sum, line.prev);
  }
  const found: string[] = [];
  for (let at = before.get(sum); at !== undefined; at = before.get(at)) found.push(at);
  return found;
}

/** Looked at byte by byte where no line of ours ends: a call into the runtime for each of a million scraps is slow. */
function lineEnd(bytes: Uint8Array, start: number): number {
  const near = Math.min(start + sumTailBytes, bytes.length);
  for (let at = start; at < near; at += 1) if (bytes[at] === newline) return at;
  const stop = bytes.indexOf(newline, near);
  return stop < 0 ? bytes.length : stop;
}

/** The whole line that `bytes` end with, newlines behind it apart; null: they end with something else. Hash as above. */
export function lastLine<E>(bytes: Uint8Array, hash: Hash | null): Line<E> | null {
  let end = bytes.length;
  while (end > 0 && (bytes[end - 1] === newline || bytes[end - 1] === carriageReturn)) end -= 1;
  if (end === 0) return null;
  const start = bytes.lastIndexOf(newline, end - 1) + 1;
  return end - start > LINE_BYTES_MAX ? null : unseal<E>(bytes.subarray(start, end), new TextDecoder("utf-8"), hash);
}

/** A line whose sum matches its bytes and whose shape is a line's, or null. */
function unseal<E>(raw: Uint8Array, decoder: InstanceType<typeof TextDecoder>, hash: Hash | null): Line<E> | null {
  if (raw[raw.length - 1] !== closeBrace || raw[raw.length - sumTailBytes] !== comma) return null;
  const text = decoder.decode(raw);
  const match = sumTail.exec(text);
  if (match === null) return null;
  const sum = match[1] as string;
  const tailBytes = match[0].length;
  if (hash !== null && hash(raw.subarray(0, raw.length - tailBytes)) !== sum) return null;
  try {
    const value = JSON.parse(text) as unknown;
    return isLine<E>(value) ? value : null;
  } catch {
    return null;
  }
}

function isLine<E>(value: unknown): value is Line<E> {
  if (typeof value !== "object" || value === null) return false;
  const line = value as Record<string, unknown>;
  return (
    Number.isInteger(line.v) &&
    Number.isInteger(line.seq) &&
    typeof line.prev === "string" &&
    typeof line.ts === "string" &&
    typeof line.run_id === "string" &&
    (line.stage === undefined || typeof line.stage === "string") &&
    typeof line.by === "object" &&
    line.by !== null &&
    Array.isArray(line.events) &&
    line.events.every((event: unknown) => typeof (event as { type?: unknown } | null)?.type === "string")
  );
}
