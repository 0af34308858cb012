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
  if (isDeeper(bytes, JSON_DEPTH_MAX)) return { ok: false, why: "torn" };
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

const quote = 0x22;
const backslash = 0x5c;

function isDeeper(bytes: Uint8Array, depthMax: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) {
      at += 1;
      while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
    } else if (byte === 0x5b || byte === 0x7b) {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth -= 1;
  }
  return false;
}
