/**
 * The last line each own run was seen to have, kept apart from it: `<state>/witness/<hash of the place>/<id>` holds a
 * `seq` and a `sum`. Whoever can write the run's folder can seal a chain of his own; here it is told from the real one.
 *
 * What a failure leaves behind: the pair of an older line, which the ledger still holds, or none. Never synced, never
 * waited for. It is written after its line is durable, so power loss never leaves a pair that is ahead of the ledger;
 * in one write of one length over the one before, so a kill leaves no other file behind.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import type { RunId } from "../core/ids.ts";
import { closeQuietly, makeFolder, readBounded, removeQuietly } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { shortSha256 } from "./short-hash.ts";

export interface SeenLine {
  readonly seq: number;
  readonly sum: string;
}

/** Which run, by the folder that holds its `.atlas`. */
export interface WitnessedRun {
  readonly root: string;
  readonly id: RunId;
}

const bytesMax = 128;
const seqLength = 15;
const form = /^ {0,14}(\d{1,15}) ([0-9a-f]{64})\n$/;
const noFollow = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Null: none was kept, or what lies there is none. */
export function readWitness(fs: FileSystem, state: string | null, run: WitnessedRun): SeenLine | null {
  const path = pathOf(state, run);
  if (path === null) return null;
  const read = readBounded(fs, path, bytesMax);
  const found = read.kind === "file" ? form.exec(read.bytes.toString("latin1")) : null;
  return found === null ? null : { seq: Number(found[1]), sum: found[2] as string };
}

/** A state folder that cannot be written costs the witness only. */
export function writeWitness(fs: FileSystem, state: string | null, run: WitnessedRun, seen: SeenLine): void {
  const path = pathOf(state, run);
  if (path === null) return;
  try {
    makeFolder(fs, join(path, ".."));
    const bytes = Buffer.from(`${String(seen.seq).padStart(seqLength)} ${seen.sum}\n`, "latin1");
    const fd = fs.openSync(path, constants.O_WRONLY | constants.O_CREAT | noFollow, 0o600);
    try {
      const stat = fs.fstatSync(fd);
      if (!stat.isFile()) return;
      fs.writeSync(fd, bytes, 0, bytes.length, 0);
      if (stat.size > bytes.length) fs.ftruncateSync(fd, bytes.length);
    } finally {
      closeQuietly(fs, fd);
    }
  } catch {
    // Without it the run has no witness, or an older one.
  }
}

export function forgetWitness(fs: FileSystem, state: string | null, run: WitnessedRun): void {
  const path = pathOf(state, run);
  if (path !== null) removeQuietly(fs, path);
}

export function witnessFolder(state: string, root: string): string {
  return join(state, "witness", shortSha256(root).slice(0, 32));
}

function pathOf(state: string | null, { root, id }: WitnessedRun): string | null {
  return state === null ? null : join(witnessFolder(state, root), id);
}
