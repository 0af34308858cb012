/**
 * A hook's stdin: the first complete JSON object, without waiting for its end, which may never come.
 * Never a blocking read: file descriptor 0 may be a pipe nobody closes, a socket, a terminal, or nothing.
 */
import type { Readable } from "node:stream";

export const STDIN_BYTES_MAX = 8 * 1024 * 1024;
export const STDIN_TIMEOUT_MS = 1500;
/** No host nests deeper, and a parser's time grows with depth. */
const depthMax = 256;

/**
 * The first JSON object, or null: garbage, nothing within `timeoutMs`, more than `bytesMax`. What follows the
 * object is not read. The stream is left as it is; the caller ends the process.
 */
export function firstObject(
  stream: Readable,
  bytesMax: number = STDIN_BYTES_MAX,
  timeoutMs: number = STDIN_TIMEOUT_MS,
): Promise<Readonly<Record<string, unknown>> | null> {
  return new Promise((resolve) => {
    const scanner = objectScanner();
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (value: Readonly<Record<string, unknown>> | null): void => {
      clearTimeout(timer);
      stream.off("data", take);
      stream.pause();
      resolve(value);
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      const end = bytes > bytesMax ? "garbage" : scanner(chunk);
      if (end === "garbage") finish(null);
      else if (end !== "more") finish(parsed(Buffer.concat(chunks), bytes - chunk.length + end));
    };
    const timer = setTimeout(() => finish(null), timeoutMs);
    stream.on("data", take);
    stream.on("end", () => finish(null));
    stream.on("error", () => finish(null));
  });
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Tells, chunk by chunk, the offset in the chunk after the object's closing brace. */
function objectScanner(): (chunk: Buffer) => number | "more" | "garbage" {
  let depth = 0;
  let inText = false;
  let escaped = false;
  let markBytes = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (inText) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) inText = false;
      } else if (byte === openBrace || (byte === openBracket && depth > 0)) {
        depth += 1;
        if (depth > depthMax) return "garbage";
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (depth <= 0) return at + 1;
      } else if (depth > 0) inText = byte === quote;
      else if (markBytes < 3 && byte === [0xef, 0xbb, 0xbf][markBytes]) markBytes += 1;
      else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return "garbage";
    }
    return "more";
  };
}

function parsed(bytes: Buffer, end: number): Readonly<Record<string, unknown>> | null {
  try {
    const value = JSON.parse(bytes.toString("utf8", 0, end).replace(/^\uFEFF/, "")) as unknown;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
