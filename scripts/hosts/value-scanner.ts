/** Finds the end of the first JSON value in a stream of bytes, one chunk at a time. */

/** No host nests deeper, and a parser's time grows with depth. */
const depthMax = 256;

const quote = 0x22;
const backslash = 0x5c;
const minus = 0x2d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const byteOrderMark = [0xef, 0xbb, 0xbf];

/**
 * Tells for each chunk the offset in it after the value; `garbage` as soon as no value can come. What lies inside is
 * for a parser to judge. A word or a number ends with white space; one that ends with the stream is `more`.
 */
export function valueScanner(): (chunk: Uint8Array) => number | "more" | "garbage" {
  let depth = 0;
  let inText = false;
  let escaped = false;
  let inWord = false;
  let markBytes = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (inText) {
        if (escaped) escaped = false;
        else if (byte === backslash) escaped = true;
        else if (byte === quote) {
          inText = false;
          if (depth === 0) return at + 1;
        }
      } else if (inWord) {
        if (isBlank(byte)) return at;
      } else if (byte === quote) inText = true;
      else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        if (depth > depthMax) return "garbage";
      } else if (depth > 0) {
        if (byte === closeBrace || byte === closeBracket) {
          depth -= 1;
          if (depth === 0) return at + 1;
        }
      } else if (isWordStart(byte)) inWord = true;
      else if (byte === byteOrderMark[markBytes]) markBytes += 1;
      else if (!isBlank(byte)) return "garbage";
    }
    return "more";
  };
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Of `true`, `false`, `null` or a number. */
function isWordStart(byte: number): boolean {
  return byte === 0x74 || byte === 0x66 || byte === 0x6e || byte === minus || (byte >= 0x30 && byte <= 0x39);
}
