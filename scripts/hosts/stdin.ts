/**
 * A hook's stdin: the first complete JSON value, without waiting for its end, which may never come.
 * Never a blocking read: file descriptor 0 may be a pipe nobody closes, a socket, a terminal, or nothing.
 */
import type { Readable } from "node:stream";
import { readPipe } from "./pipe.ts";
import { valueScanner } from "./value-scanner.ts";

export const STDIN_BYTES_MAX = 8 * 1024 * 1024;
export const STDIN_TIMEOUT_MS = 1500;

/** A word or a number may end with its stream. */
const wordBytesMax = 1024;

/** Whatever JSON value it is: a host that sends none but an object is no reason to trust it. */
export interface Given {
  readonly value: unknown;
}

/** Calls `take` with each chunk, with null at the end or on an error; gives how to stop. */
export type Source = (take: (chunk: Uint8Array | null) => void) => () => void;

/** The process's own stdin. */
export const stdin: Source = (take) => readPipe(0, take) ?? readStream(process.stdin, take);

/**
 * The first JSON value, or null: garbage, nothing whole within `timeoutMs`, more than `bytesMax`. What follows the
 * value is not looked at. The source may stay open; the caller ends the process.
 */
export function firstValue(
  source: Source,
  bytesMax: number = STDIN_BYTES_MAX,
  timeoutMs: number = STDIN_TIMEOUT_MS,
): Promise<Given | null> {
  return new Promise((resolve) => {
    const scanner = valueScanner();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    let isDone = false;
    let stop: (() => void) | null = null;
    const finish = (given: Given | null): void => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      stop?.();
      resolve(given);
    };
    const timer = setTimeout(() => finish(null), timeoutMs);
    stop = source((chunk) => {
      if (isDone) return;
      if (chunk === null) return finish(bytes > wordBytesMax ? null : parsed(Buffer.concat(chunks), bytes));
      bytes += chunk.length;
      chunks.push(chunk);
      const end = bytes > bytesMax ? "garbage" : scanner(chunk);
      if (end === "garbage") finish(null);
      else if (end !== "more") finish(parsed(Buffer.concat(chunks), bytes - chunk.length + end));
    });
  });
}

export function readStream(stream: Readable, take: (chunk: Uint8Array | null) => void): () => void {
  const end = (): void => take(null);
  stream.on("data", take);
  stream.on("end", end);
  stream.on("error", end);
  return () => {
    stream.off("data", take);
    stream.pause();
  };
}

function parsed(bytes: Buffer, end: number): Given | null {
  try {
    return { value: JSON.parse(bytes.toString("utf8", 0, end).replace(/^\uFEFF/, "")) as unknown };
  } catch {
    return null;
  }
}
