/** Whether a ledger was written by this user's runs. Whatever came from elsewhere is listed, and resumed only with `--trust`. */
import { join } from "node:path";
import { entryKind, makeFolder, replaceFile } from "../platform/files.ts";
import { mayTrack } from "../platform/git-index.ts";
import type { Place } from "../platform/places.ts";
import { stateFolder } from "../platform/sessions.ts";
import { trustMark } from "../platform/trust-mark.ts";
import type { Engine } from "./context.ts";

/**
 * Git's index holds `.atlas` or something below it: it came with the repository. In any letter case: where the file
 * system knows none, `.ATLAS` is the folder we read.
 */
export function isTracked(engine: Engine, place: Place, topLevel: string | null): boolean {
  if (topLevel === null) return false;
  // Only where git's own file cannot rule it out is git started: a listing must cost little.
  if (place.root === topLevel && !mayTrack(engine.fs, place.root, ".atlas")) return false;
  const listed = engine.git.run(["ls-files", "-z", "--", ":(icase).atlas"], { cwd: place.root, timeoutMs: 5000 });
  // A git that cannot say is no proof that nothing came with the repository.
  return listed.code !== 0 || listed.stdout.length > 0;
}

/** What decides which run this is and how it goes on. */
const deciding = ["", "log.jsonl", "state.json", "plan.dag.json", "adopted", "adopted/log.jsonl"];

/** A run whose folder or deciding files another user owns, in a place that may be ours. */
export function isAnothers(engine: Engine, folder: string): boolean {
  const uid = process.getuid?.() ?? null;
  if (uid === null) return false;
  return deciding.some((name) => {
    try {
      return engine.fs.lstatSync(join(folder, name)).uid !== uid;
    } catch {
      return false;
    }
  });
}

/** A human trusted this run in this place before: the mark lies in the user's state folder, where no repository writes. */
export function isTrusted(engine: Engine, atlas: string, id: string): boolean {
  const path = trustMark(stateFolder(engine.environment), atlas, id);
  return path !== null && entryKind(engine.fs, path) === "file";
}

/** Records the human's word, so that the commands after `resume --trust` need not ask again. */
export function markTrusted(engine: Engine, atlas: string, id: string): void {
  const path = trustMark(stateFolder(engine.environment), atlas, id);
  if (path === null) return;
  makeFolder(engine.fs, join(path, ".."));
  replaceFile(engine.fs, path, "", true);
}
