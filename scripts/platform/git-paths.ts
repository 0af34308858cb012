/**
 * Git's paths are bytes; ours are strings. Valid UTF-8 stays as it is; every byte that is not becomes one lone
 * surrogate U+DC80…U+DCFF (Python's `surrogateescape`, PEP 383). Lossless both ways, and JSON keeps it.
 */
import { isUtf8 } from "node:buffer";

const escapedByte = /[\uDC80-\uDCFF]/u;

export function pathFromBytes(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    text +=
      length === 0 ? String.fromCharCode(0xdc00 + (bytes[at] ?? 0)) : bytes.subarray(at, at + length).toString("utf8");
    at += Math.max(1, length);
  }
  return text;
}

export function pathToBytes(path: string): Buffer {
  if (!escapedByte.test(path)) return Buffer.from(path, "utf8");
  const parts: Buffer[] = [];
  for (const letter of path) {
    const code = letter.codePointAt(0) ?? 0;
    parts.push(code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(letter, "utf8"));
  }
  return Buffer.concat(parts);
}

/** False for a path that holds a byte outside UTF-8: node's own calls cannot name such a file. */
export function isNameable(path: string): boolean {
  return !escapedByte.test(path);
}

/** The records of a `-z` output. */
export function zeroRecords(output: Buffer): string[] {
  if (output.length === 0) return [];
  const whole = output[output.length - 1] === 0 ? output.subarray(0, -1) : output;
  if (isUtf8(whole)) return whole.toString("utf8").split("\0");
  const records: string[] = [];
  let from = 0;
  for (let to = whole.indexOf(0); to !== -1; to = whole.indexOf(0, from)) {
    records.push(pathFromBytes(whole.subarray(from, to)));
    from = to + 1;
  }
  records.push(pathFromBytes(whole.subarray(from)));
  return records;
}

/** Input for a `-z --stdin` command. */
export function zeroInput(records: readonly string[]): Buffer {
  return pathToBytes(records.map((record) => `${record}\0`).join(""));
}

/** Length of the well-formed UTF-8 sequence at `at`, or 0. */
function sequenceLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length += 1) {
    if (isUtf8(bytes.subarray(at, at + length))) return length;
  }
  return 0;
}
