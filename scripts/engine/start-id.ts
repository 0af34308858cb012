/**
 * Which id a packet's run gets. Two who start the same packet at once are given the same id, and since a run's folder
 * appears by one exclusive rename, exactly one of them opens it; the other finds it there.
 *
 * What a failure leaves behind: an id without a run, which the next start of the same packet takes. Nothing is stale, and
 * nothing is synced: after a power loss nobody starts at the same time, and a run that stands is found by its packet.
 */
import { join } from "node:path";
import { isRunId, ownRunId, type RunId } from "../core/ids.ts";
import { createExclusive, makeFolder, readBounded } from "../platform/files.ts";
import type { Engine } from "./context.ts";
import { findRun } from "./runs.ts";

/** Below `.atlas`. */
export const STARTS = ".starts";
const digestChars = 32;
const idBytesMax = 128;
/** Finished runs of one and the same packet. */
const generationsMax = 10_000;

/** The id for the next run of `digest`: that of its unfinished run, if there is one, else a new one. */
export function assignId(engine: Engine, atlas: string, digest: string): RunId {
  const folder = join(atlas, STARTS);
  makeFolder(engine.fs, folder);
  for (let generation = 0; generation < generationsMax; generation += 1) {
    const path = join(folder, `${digest.slice(0, digestChars)}.${generation}`);
    const fresh = ownRunId(engine.moment.now, engine.moment.fresh("run").slice(0, 6));
    if (createExclusive(engine.fs, path, fresh, false)) return fresh;
    const read = readBounded(engine.fs, path, idBytesMax);
    const id = read.kind === "file" ? read.bytes.toString("utf8") : "";
    // Whatever else lies there names no run of ours: the next generation is free of it.
    if (isRunId(id) && findRun(engine, id)?.view.terminal !== true) return id;
  }
  return ownRunId(engine.moment.now, engine.moment.fresh("run").slice(0, 6));
}
