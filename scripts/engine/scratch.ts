/**
 * Scratch trees: a tree of the run written out for one command and thrown away. Nothing of anybody's work is ever in
 * one. A killed owner leaves it under its own attempt's name; the next command of the run removes it.
 */
import { join } from "node:path";
import type { ChangeState } from "../kinds/change/state.ts";
import { listFolder, makeFolder } from "../platform/files.ts";
import { removeFolderTree } from "../platform/remove-folder.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf } from "./effects.ts";
import type { Loaded, RunFolder } from "./ledger.ts";

/** Where git stops looking for a repository above a scratch tree: it must not find the user's. */
export function scratchFolder(folder: RunFolder): string {
  return join(folder.ledger, "scratch");
}

export function scratchPath(folder: RunFolder, stem: string): string {
  return join(scratchFolder(folder), stem);
}

/** Writes `tree` out under the attempt's name; what other attempts left is removed first. */
export function makeScratch(engine: Engine, loaded: Loaded<ChangeState>, stem: string, tree: string): string {
  dropScratch(engine, loaded.folder);
  const path = scratchPath(loaded.folder, stem);
  makeFolder(engine.fs, path);
  snapshotsOf(engine, loaded).materialise(tree, path);
  return path;
}

/** Best effort: what cannot be removed now is tried again by the next command of the run, and by `atlas clean`. */
export function dropScratch(engine: Engine, folder: RunFolder): void {
  const scratch = scratchFolder(folder);
  for (const name of listFolder(engine.fs, scratch)) removeFolderTree(join(scratch, name));
}
