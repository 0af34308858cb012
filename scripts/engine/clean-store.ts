/**
 * The private store `<run>/git` of a finished run. It goes only when nothing the run names lies in it: a report, a
 * patch and a later answer are made from trees that may be nowhere else.
 *
 * What a failure leaves behind: a store with fewer files; opening it mends it, and the next call goes on.
 */
import { join } from "node:path";
import type { ChangeState } from "../kinds/change/state.ts";
import { entryKind, listFolder, removeFolder } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { type Sweep, sweepAway } from "./clean-sweep.ts";
import type { Engine } from "./context.ts";
import type { Loaded } from "./ledger.ts";

export function sweepStore(engine: Engine, loaded: Loaded, sweep: Sweep): void {
  const { fs } = engine;
  const store = join(loaded.folder.ledger, "git");
  const kind = entryKind(fs, store);
  if (kind === "absent") return;
  if (kind !== "folder") sweep.kept.push({ path: store, why: "not a folder" });
  else if (isNeeded(fs, store, loaded)) sweep.kept.push({ path: store, why: "the run's report rests on it" });
  else sweepAway(sweep, store, () => removeFolder(fs, store));
}

function isNeeded(fs: FileSystem, store: string, loaded: Loaded): boolean {
  const objects = join(store, "objects");
  if (listFolder(fs, join(objects, "pack")).length > 0) return true;
  const { filled } = loaded.state as Partial<ChangeState>;
  // Evidence names trees of its own.
  if (Object.keys(filled ?? {}).some((key) => key.startsWith("evidence."))) return hasObjects(fs, objects);
  const named = new Set(JSON.stringify(loaded.state).match(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g) ?? []);
  return [...named].some((id) => entryKind(fs, join(objects, id.slice(0, 2), id.slice(2))) !== "absent");
}

function hasObjects(fs: FileSystem, objects: string): boolean {
  return listFolder(fs, objects).some((name) => /^[0-9a-f]{2}$/.test(name));
}
