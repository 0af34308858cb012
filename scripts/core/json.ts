import { quoted } from "./quote.ts";
import { ok, type Result, refuse } from "./result.ts";

export interface JsonLimits {
  readonly bytesMax: number;
  /** Arrays and objects inside each other; a bare value has depth 0. */
  readonly depthMax: number;
}

/**
 * Bytes from outside as one JSON value. Stricter than `JSON.parse`: one byte order mark is stripped, the bytes must be
 * UTF-8, no object holds a key twice (however it is spelled) and none holds `__proto__`. Where it accepts, the value
 * is the one `JSON.parse` gives. Linear in the bytes, no recursion.
 *
 * Refuses `slot.too_large | slot.encoding | slot.depth | slot.json | slot.duplicate_key`; echoes no text but a bounded key.
 */
export function parseStrictJson(bytes: Uint8Array, limits: JsonLimits): Result<unknown> {
  const decoded = decodeUtf8(bytes, limits.bytesMax);
  return decoded.ok ? parseStrictText(decoded.value, limits.depthMax) : decoded;
}

/** As `parseStrictJson`, for text that is decoded and bounded already. */
export function parseStrictText(text: string, depthMax: number): Result<unknown> {
  if (isDeeperThan(text, depthMax)) {
    return refuse("slot.depth", `the JSON is nested deeper than ${depthMax} levels`, `nest at most ${depthMax} levels`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return notJson(text);
  }
  return refusedKey(text) ?? ok(value);
}

function notJson(text: string): Result<never> {
  const nul = text.indexOf("\0");
  // Half of a text in two bytes a letter is valid UTF-8, and its owner sees nothing wrong with it.
  const why = nul < 0 ? "" : `: a NUL stands at byte ${nul}, so it is not UTF-8 text`;
  return refuse(
    "slot.json",
    `this is not one JSON value${why}`,
    "hand in one JSON value and no text before or after it",
  );
}

/** Bytes as text: at most `bytesMax`, valid UTF-8, one byte order mark stripped. Refuses `slot.too_large | slot.encoding`. */
export function decodeUtf8(bytes: Uint8Array, bytesMax: number): Result<string> {
  if (bytes.length > bytesMax) {
    return refuse(
      "slot.too_large",
      `${bytes.length} bytes were handed in, at most ${bytesMax} are taken`,
      `shorten it to ${bytesMax} bytes`,
    );
  }
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return ok(decoder.decode(marked ? bytes.subarray(3) : bytes));
  } catch {
    return refuse(
      "slot.encoding",
      `the bytes are not UTF-8 from byte ${firstBadByte(bytes)} on`,
      "write the file as UTF-8",
    );
  }
}

/** Where the longest part from the beginning that is UTF-8 ends. */
function firstBadByte(bytes: Uint8Array): number {
  let [good, bad] = [0, bytes.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, middle), { stream: true });
      good = middle;
    } catch {
      bad = middle;
    }
  }
  return good;
}

/** Counts brackets outside strings; total on any text, so it may stand before the parser. */
function isDeeperThan(text: string, depthMax: number): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') at = stringEnd(text, at);
    else if (char === "{" || char === "[") {
      depth += 1;
      if (depth > depthMax) return true;
    } else if (char === "}" || char === "]") depth -= 1;
  }
  return false;
}

/** Walks a text that `JSON.parse` accepted: there a string is a key exactly if a colon follows it. */
function refusedKey(text: string): Result<never> | null {
  const scopes: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === "{" || char === "[") scopes.push(new Set());
    else if (char === "}" || char === "]") scopes.pop();
    else if (char === '"') {
      const end = stringEnd(text, at);
      if (isBeforeColon(text, end + 1)) {
        const raw = text.slice(at, end + 1);
        const key = raw.includes("\\") ? String(JSON.parse(raw)) : raw.slice(1, -1);
        if (key === "__proto__")
          return refuse("slot.json", 'the key "__proto__" is refused', 'remove the key "__proto__"');
        const scope = scopes.at(-1);
        if (scope?.has(key)) {
          return refuse(
            "slot.duplicate_key",
            `the key ${quoted(key)} stands twice in one object`,
            `keep one ${quoted(key)}`,
          );
        }
        scope?.add(key);
      }
      at = end;
    }
  }
  return null;
}

/** Index of the quote that closes the string opened at `open`, or the end of the text. */
function stringEnd(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (char === '"') return at;
  }
  return text.length;
}

function isBeforeColon(text: string, from: number): boolean {
  let at = from;
  while (text[at] === " " || text[at] === "\n" || text[at] === "\r" || text[at] === "\t") at += 1;
  return text[at] === ":";
}
