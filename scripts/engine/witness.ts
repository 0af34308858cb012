/** Whether a ledger is the one this user's runs were seen to write. */
import { ORIGIN, type Tip } from "../core/line.ts";
import { stateFolder } from "../platform/sessions.ts";
import { readWitness, type SeenLine, writeWitness } from "../platform/witness.ts";
import type { Engine } from "./context.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { readLog } from "./log.ts";

/** `none`: nothing was kept of this run here, so nothing can be said. */
export type WitnessSays = "matches" | "none" | "differs";

export function witnessSays(engine: Engine, { folder, tip }: Pick<Loaded, "folder" | "tip">): WitnessSays {
  const seen = readWitness(engine.fs, stateFolder(engine.environment), folder);
  if (seen === null) return "none";
  return holds(engine, folder, tip, seen) ? "matches" : "differs";
}

/**
 * After an append: `after` follows `before`. A pair that the ledger does not hold stays: otherwise the next honest line
 * would vouch for a chain that somebody put in between.
 */
export function witnessLine(engine: Engine, folder: RunFolder, before: Tip, after: Tip): void {
  const state = stateFolder(engine.environment);
  const seen = readWitness(engine.fs, state, folder);
  const isKnown =
    seen === null ||
    (seen.seq < after.seq && (isAt(before, seen) || (seen.seq < before.seq && holds(engine, folder, before, seen))));
  if (isKnown) writeWitness(engine.fs, state, folder, after);
}

/** Of a run that was born just now: what was known of another one by its name is over. */
export function witnessBirth(engine: Engine, folder: RunFolder, sum: string): void {
  writeWitness(engine.fs, stateFolder(engine.environment), folder, { seq: 1, sum });
}

function holds(engine: Engine, folder: RunFolder, tip: Tip, seen: SeenLine): boolean {
  if (seen.seq > tip.seq) return false;
  if (seen.seq === tip.seq) return isAt(tip, seen);
  const read = readLog<unknown>(engine.fs, folder.ledger, ORIGIN);
  return read !== null && !("bad" in read) && read.chain.lines[seen.seq - 1]?.sum === seen.sum;
}

function isAt(tip: Tip, seen: SeenLine): boolean {
  return tip.seq === seen.seq && tip.sum === seen.sum;
}
