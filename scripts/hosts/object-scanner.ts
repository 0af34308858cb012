/** Finds the end of the first JSON object in a stream of bytes, one chunk at a time. */

/** No host nests deeper, and a parser's time grows with depth. */
const depthMax = 256;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const byteOrderMark = [0xef, 0xbb, 0xbf];

/**
 * Tells for each chunk the offset in it after the object's closing brace; `garbage` as soon as no object can come.
 * What lies between the braces is for a parser to judge.
 */
export function objectScanner(): (chunk: Uint8Array) => number | "more" | "garbage" {
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
      } else if (depth > 0) {
        if (byte === quote) inText = true;
        else if (byte === closeBrace || byte === closeBracket) {
          depth -= 1;
          if (depth === 0) return at + 1;
        }
      } else if (byte === byteOrderMark[markBytes]) markBytes += 1;
      else if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return "garbage";
    }
    return "more";
  };
}
