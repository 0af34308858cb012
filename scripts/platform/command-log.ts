/** The output of a command: a file, not a pipe, so that a child that never closes it can hold nobody up. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { dirname } from "node:path";
import { readAgain, syncFolder } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { tailBytesMax } from "./performer-result.ts";

export interface CommandLog {
  /** For the command: write only, appending. */
  readonly writeFd: number;
  /** For us: the same file, whatever the command does to its name. */
  readonly readFd: number;
}

const chunkBytes = 256 * 1024;
const secretName = /KEY|TOKEN|SECRET|PASS/i;
/** Shorter values ("1", "us") are no secrets, and masking them would make a tail unreadable. */
const secretBytesMin = 4;
/** The log may end inside a secret: this much of one is masked at its very end. */
const secretPartBytesMin = 8;
const mask = Buffer.from("***");

/** Opens an empty log at `path`, mode 0600; what a lost attempt left there is dropped. Throws what the system says. */
export function openLog(fs: FileSystem, path: string): CommandLog {
  const safe = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const writeFd = fs.openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | safe, 0o600);
  try {
    if (!fs.fstatSync(writeFd).isFile()) throw new Error(`${path} is not a regular file`);
    fs.ftruncateSync(writeFd, 0);
    return { writeFd, readFd: fs.openSync(path, constants.O_RDONLY | safe) };
  } catch (error) {
    fs.closeSync(writeFd);
    throw error;
  }
}

export function logBytes(fs: FileSystem, log: CommandLog): number {
  return fs.fstatSync(log.readFd).size;
}

/**
 * The finished log, synced with its folder: hash and size of at most `bytesMax` bytes (the rest is cut off) and
 * its masked tail. Reads in pieces: a large log costs time, not memory.
 */
export function finishLog(
  fs: FileSystem,
  log: CommandLog,
  path: string,
  bytesMax: number,
  secrets: readonly Buffer[],
): { readonly sha256: string; readonly bytes: number; readonly tail: string } {
  if (logBytes(fs, log) > bytesMax) fs.ftruncateSync(log.writeFd, bytesMax);
  fs.fsyncSync(log.writeFd);
  syncFolder(fs, dirname(path));
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(chunkBytes);
  let bytes = 0;
  for (;;) {
    const got = readAgain(fs, log.readFd, chunk, 0, bytes);
    if (got === 0) break;
    hash.update(chunk.subarray(0, got));
    bytes += got;
  }
  const longest = Math.max(0, ...secrets.map((secret) => secret.length));
  const window = Buffer.alloc(Math.min(bytes, tailBytesMax + longest + 4));
  const from = bytes - window.length;
  for (let filled = 0; filled < window.length; ) {
    const got = readAgain(fs, log.readFd, window, filled, from + filled);
    if (got === 0) break;
    filled += got;
  }
  return { sha256: hash.digest("hex"), bytes, tail: maskedTail(window, from === 0 ? 0 : longest, secrets) };
}

/** The values to mask: of every variable named like a secret, and each line of such a value. */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): readonly Buffer[] {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined || !secretName.test(name)) continue;
    for (const part of [value, ...value.split(/\r?\n/)]) if (Buffer.byteLength(part) >= secretBytesMin) found.add(part);
  }
  return [...found].map((text) => Buffer.from(text, "utf8"));
}

/**
 * The last whole characters of `window`, at most 4096 bytes of valid UTF-8, secrets replaced by `***`. Its first
 * `skip` bytes may hold the end of a secret whose beginning lies before the window: they are never shown.
 */
export function maskedTail(window: Buffer, skip: number, secrets: readonly Buffer[]): string {
  const hidden = new Uint8Array(window.length);
  for (const secret of secrets) {
    for (let at = window.indexOf(secret); at !== -1; at = window.indexOf(secret, at + 1))
      hidden.fill(1, at, at + secret.length);
    const part = partAtEnd(window, secret);
    hidden.fill(1, window.length - part);
  }
  const pieces: Buffer[] = [];
  for (let at = skip; at < window.length; ) {
    let end = at;
    while (end < window.length && hidden[end] === hidden[at]) end += 1;
    pieces.push(hidden[at] === 1 ? mask : window.subarray(at, end));
    at = end;
  }
  // Bytes that are no UTF-8 become U+FFFD, which is longer: so decode first, then cut.
  const text = Buffer.from(wholeCharacters(Buffer.concat(pieces)), "utf8");
  return wholeCharacters(text.subarray(Math.max(0, text.length - tailBytesMax)));
}

/** How many of the window's last bytes are the beginning of `secret`. */
function partAtEnd(window: Buffer, secret: Buffer): number {
  for (let length = Math.min(window.length, secret.length - 1); length >= secretPartBytesMin; length -= 1)
    if (window.subarray(window.length - length).equals(secret.subarray(0, length))) return length;
  return 0;
}

/** Decoded without the rest of a character that began before the bytes, or the start of one that ends after them. */
function wholeCharacters(bytes: Buffer): string {
  let at = 0;
  while (at < bytes.length && at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(at), { stream: true });
}
