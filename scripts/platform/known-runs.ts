/**
 * Unfinished runs that the user's own state folder knows of, by place: `<state>/runs/<hash of the place>/<id>`. A run
 * whose folder vanishes takes its ledger with it; only from here can anyone tell that there was one.
 *
 * What a failure leaves behind: a mark less, so that a loss is not named; or one of a finished run, which the next look
 * drops. Never synced, never waited for.
 */
import { join } from "node:path";
import { isRunId, type RunId } from "../core/ids.ts";
import { entryKind, listFolder, makeFolder, readPrefix, removeQuietly, replaceFile, writeNew } from "./files.ts";
import { isMarked } from "./finished.ts";
import type { FileSystem } from "./fs.ts";
import { shortSha256 } from "./short-hash.ts";

export interface LostRun {
  /** The folder that held `.atlas`. */
  readonly root: string;
  readonly id: RunId;
  /** It was named to a session before. */
  readonly told: boolean;
  /** The file that remembers it. */
  readonly mark: string;
}

/** Remembers a run. A state folder that cannot be written costs the memory only. */
export function knowRun(fs: FileSystem, state: string | null, root: string, id: RunId): void {
  const folder = folderOf(state, root);
  if (folder === null || entryKind(fs, join(folder, id)) !== "absent") return;
  try {
    makeFolder(fs, folder);
    writeNew(fs, join(folder, id), "", false);
  } catch {
    // A hint.
  }
}

export function forgetRun(fs: FileSystem, state: string | null, root: string, id: RunId): void {
  const folder = folderOf(state, root);
  if (folder !== null) removeQuietly(fs, join(folder, id));
}

/** It is named once; `lostRuns` goes on to list it. */
export function markTold(fs: FileSystem, { mark }: LostRun): void {
  try {
    replaceFile(fs, mark, "told\n", false);
  } catch {
    // Named twice.
  }
}

/** Runs that were known in these places and whose folder is no longer there. */
export function lostRuns(fs: FileSystem, state: string | null, roots: readonly string[]): readonly LostRun[] {
  if (state === null || entryKind(fs, join(state, "runs")) !== "folder") return [];
  return roots.flatMap((root) => {
    const folder = folderOf(state, root) as string;
    return listFolder(fs, folder)
      .filter(isRunId)
      .filter((id) => isLost(fs, state, root, id))
      .map((id) => ({ root, id, mark: join(folder, id) }))
      .map((run) => ({ ...run, told: (readPrefix(fs, run.mark, 1)?.length ?? 0) > 0 }));
  });
}

function isLost(fs: FileSystem, state: string, root: string, id: RunId): boolean {
  const atlas = join(root, ".atlas");
  if (!isMarked(fs, atlas, id)) return entryKind(fs, join(atlas, id)) === "absent";
  forgetRun(fs, state, root, id);
  return false;
}

function folderOf(state: string | null, root: string): string | null {
  return state === null ? null : join(state, "runs", shortSha256(root).slice(0, 32));
}
