/**
 * What a performer saw: one JSON file, replaced whole and synced with its folder, written once, after every process
 * of the command has ended.
 *
 * The command knows its nonce (it stands in its environment) and can write where we write, so the nonce proves
 * nothing. The performer therefore draws a key, tells only its hash (the seal) before the command may begin, and
 * puts the key into the result: a file without it was not written by that performer.
 */
import { type CommandEnding, isWhole, parseEnding } from "./command-ending.ts";
import { readBounded, replaceFile } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { sha256 } from "./hash.ts";
import { isRecord } from "./performer-job.ts";

export type CommandResult = CommandEnding & {
  readonly v: 1;
  readonly nonce: string;
  /** 64 hex digits whose sha-256 is the seal. */
  readonly key: string;
  /** From "go" to the end of the command's own shell. */
  readonly ms: number;
  /** Largest sum of proportional memory seen; null where the system does not tell it. */
  readonly peakBytes: number | null;
  readonly log: { readonly sha256: string; readonly bytes: number; readonly tail: string };
  /** Processes besides the command's own shell that were still there when it ended, and were ended. */
  readonly leftovers: Leftovers;
};

export type Leftovers = "none" | `killed ${number}`;

/** What proves a result: to be recorded with the line that says the command began. */
export interface CommandTicket {
  readonly nonce: string;
  /** sha-256 of the performer's key, hex. */
  readonly seal: string;
}

export type Polled =
  | { readonly kind: "none" }
  | { readonly kind: "result"; readonly result: CommandResult }
  /** Something lies there that this performer did not write; `why` is of fixed words only. */
  | { readonly kind: "refused"; readonly why: string };

export const tailBytesMax = 4096;
/** A tail of 4 KiB of control characters, each escaped in six. */
const resultBytesMax = 64 * 1024;
const hexShape = /^[0-9a-f]{64}$/;
const leftoversShape = /^(none|killed [1-9]\d{0,6})$/;
const resultKeys = new Set(
  "v nonce key ending code signal limitMs limitBytes why ms peakBytes log leftovers".split(" "),
);

/** Atomic and durable. Throws EnvironmentFailure `disk.*`. */
export function writeResult(fs: FileSystem, path: string, result: CommandResult): void {
  replaceFile(fs, path, `${JSON.stringify(result)}\n`, true);
}

/** One look, never blocking and never throwing for what lies there: nothing yet, the result, or a file to refuse. */
export function pollResult(fs: FileSystem, path: string, ticket: CommandTicket): Polled {
  const read = readBounded(fs, path, resultBytesMax);
  if (read.kind === "absent") return { kind: "none" };
  if (read.kind === "bad") return refused(`the result is ${read.why}`);
  let value: unknown;
  try {
    value = JSON.parse(read.bytes.toString("utf8"));
  } catch {
    return refused("the result is not JSON");
  }
  return checkResult(value, ticket);
}

function checkResult(value: unknown, ticket: CommandTicket): Polled {
  if (!isRecord(value) || !Object.keys(value).every((key) => resultKeys.has(key)))
    return refused("the result has another shape");
  const { v, nonce, key, ms, peakBytes, log, leftovers } = value;
  if (v !== 1) return refused("the result has another version");
  if (nonce !== ticket.nonce) return refused("the result belongs to another command");
  if (typeof key !== "string" || !hexShape.test(key) || sha256(key) !== ticket.seal)
    return refused("the result was not written by the command's performer");
  const end = parseEnding(value);
  if (
    end === null ||
    !isWhole(ms) ||
    !(peakBytes === null || isWhole(peakBytes)) ||
    !isLog(log) ||
    typeof leftovers !== "string" ||
    !leftoversShape.test(leftovers)
  )
    return refused("the result has another shape");
  const { sha256: hash, bytes, tail } = log;
  return {
    kind: "result",
    result: {
      v,
      nonce,
      key,
      ...end,
      ms,
      peakBytes,
      log: { sha256: hash, bytes, tail },
      leftovers: leftovers as Leftovers,
    },
  };
}

function isLog(value: unknown): value is CommandResult["log"] {
  return (
    isRecord(value) &&
    Object.keys(value).sort().join() === "bytes,sha256,tail" &&
    typeof value.sha256 === "string" &&
    hexShape.test(value.sha256) &&
    isWhole(value.bytes) &&
    typeof value.tail === "string" &&
    Buffer.byteLength(value.tail) <= tailBytesMax
  );
}

function refused(why: string): Polled {
  return { kind: "refused", why };
}
