/**
 * Whose turn it is in the user's tree. Two runs may come to their coders at the same moment, each seeing the other there
 * and neither at work; the turn is taken by one exclusive creation, so exactly one goes on and the other is told.
 *
 * What a failure leaves behind: a turn of a run that never worked. It counts only as long as that run, by its own
 * ledger, holds the tree; nothing is stale.
 */
import { join } from "node:path";
import type { ChangeState } from "../kinds/change/state.ts";
import { createExclusive, listFolder, makeFolder, readBounded } from "../platform/files.ts";
import { sha256 } from "../platform/hash.ts";
import type { Engine } from "./context.ts";
import { userTree } from "./effects.ts";
import type { Loaded } from "./ledger.ts";
import { holdersOf } from "./tree-holder.ts";

/** Below `.atlas`. */
export const TURNS = ".turns";
const keyChars = 32;
const idBytesMax = 256;
/** Others took a turn that was free while we looked. */
const looksMax = 100;

/**
 * The run that works in this run's tree, or null: this one may. Call it when the ledger already says that this run
 * holds the tree, or two could miss each other.
 */
export function otherAtWork(engine: Engine, loaded: Loaded<ChangeState>): string | null {
  const { atlas, id } = loaded.folder;
  // Turns lie in one place; and one that had a coder before there were turns has none.
  const settled = holdersOf(engine, id, loaded).find(
    (run) => run.folder.atlas !== atlas || (run.loaded.state.leases.issued.coder ?? 0) > 0,
  );
  if (settled !== undefined) return settled.view.id;
  const folder = join(atlas, TURNS);
  makeFolder(engine.fs, folder);
  const key = sha256(userTree(loaded)).slice(0, keyChars);
  for (let look = 0; look < looksMax; look += 1) {
    const number = lastTurn(engine, folder, key);
    const turn = number === 0 ? null : readBounded(engine.fs, join(folder, `${key}.${number}`), idBytesMax);
    const owner = turn?.kind === "file" ? turn.bytes.toString("utf8") : null;
    if (owner === id) return null;
    // Looked at after the turn was read: whoever took it held the tree before.
    if (owner !== null && holdersOf(engine, id, loaded).some((run) => run.view.id === owner)) return owner;
    if (createExclusive(engine.fs, join(folder, `${key}.${number + 1}`), id, true)) return null;
  }
  throw new Error(`no turn is to be had in ${folder}`);
}

function lastTurn(engine: Engine, folder: string, key: string): number {
  const numbers = listFolder(engine.fs, folder)
    .filter((name) => name.startsWith(`${key}.`))
    .map((name) => Number(name.slice(keyChars + 1)))
    .filter((number) => Number.isSafeInteger(number) && number > 0);
  return numbers.reduce((most, number) => Math.max(most, number), 0);
}
