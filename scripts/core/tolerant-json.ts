/**
 * Reading JSON that anyone may have written. Total: any bytes give a value or a reason, in linear time.
 * A leading byte order mark is ignored; bytes that are not UTF-8 are damage, never replaced in silence.
 */

/** Nesting no honest file of ours or of an original comes near. */
export const JSON_DEPTH_MAX = 64;

export type TolerantJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly why: "empty" | "torn" };

const decoder = new TextDecoder("utf-8", { fatal: true });

export function parseTolerant(bytes: Uint8Array): TolerantJson {
  if (isBlank(bytes)) return { ok: false, why: "empty" };
  // JSON.parse takes ten seconds for 64 MB of "[": the depth is bounded before it sees a byte.
  return isDeeper(bytes, JSON_DEPTH_MAX) ? { ok: false, why: "torn" } : parse(bytes);
}

/** A parser is done with so many bytes of "[" in 50 ms. */
const atOnceBytesMax = 512 * 1024;

/**
 * The same answer, sooner, for a document of which a command reads one or a few, not for each line of a log: a short one
 * is parsed first, and its depth is seen in the value.
 */
export function parseTolerantDocument(bytes: Uint8Array): TolerantJson {
  if (bytes.length > atOnceBytesMax || isBlank(bytes)) return parseTolerant(bytes);
  const parsed = parse(bytes);
  return parsed.ok && !isShallow(parsed.value, JSON_DEPTH_MAX) ? { ok: false, why: "torn" } : parsed;
}

function parse(bytes: Uint8Array): TolerantJson {
  try {
    return { ok: true, value: JSON.parse(decoder.decode(bytes)) as unknown };
  } catch {
    return { ok: false, why: "torn" };
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** White space and NUL: what a file system leaves where bytes were lost. */
export function isBlankByte(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === 0x00;
}

function isBlank(bytes: Uint8Array): boolean {
  let at = 0;
  while (at < bytes.length && isBlankByte(bytes[at])) at += 1;
  return at === bytes.length;
}

/** Of a parsed value; a list's keys are left aside, which costs a start half of the time. */
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) if (!isShallow(value[at], levels - 1)) return false;
    return true;
  }
  for (const key in value) if (!isShallow((value as Record<string, unknown>)[key], levels - 1)) return false;
  return true;
}

const quote = 0x22;
const backslash = 0x5c;

/** Bytes that open, close, or begin a text; every other one is passed over with one look. */
const [opens, closes, quotes] = [1, 2, 3];
const roles = new Uint8Array(256);
roles[0x5b] = roles[0x7b] = opens;
roles[0x5d] = roles[0x7d] = closes;
roles[quote] = quotes;

function isDeeper(bytes: Uint8Array, depthMax: number): boolean {
  const { length } = bytes;
  let depth = 0;
  for (let at = 0; at < length; at += 1) {
    const role = roles[bytes[at] as number];
    if (role === 0) continue;
    if (role === quotes) {
      at += 1;
      for (let byte = bytes[at]; at < length && byte !== quote; byte = bytes[at]) at += byte === backslash ? 2 : 1;
    } else if (role === opens) {
      depth += 1;
      if (depth > depthMax) return true;
    } else depth -= 1;
  }
  return false;
}
