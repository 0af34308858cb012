/**
 * What killed writers left: births that never came to be (`.new-…`), temporary siblings (`.tmp-…`), jobs no performer
 * has read, places to look in (`atlas-look-…`).
 *
 * No clock decides. A birth says in its first line who made it: it goes when that process is provably gone. Where no
 * line can be read, and for all the others, which name nobody, it goes when no other atlas process lives here;
 * where that cannot be told, it stays. A birth is renamed before it is removed: a maker that lives after all (on
 * another machine) then fails at its own rename, and a run that was told as born is never gutted.
 *
 * What a failure leaves behind: a `.new-gone-…` folder, which the next call removes.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ORIGIN } from "../core/line.ts";
import type { ProcessIdentity } from "../core/owner.ts";
import { entryKind, isTemporary, listFolder, removeFolder, syncFolder } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { isPerformerAlive } from "../platform/performer-client.ts";
import { stillborn } from "./birth.ts";
import { type Sweep, sweepAway } from "./clean-sweep.ts";
import type { Engine } from "./context.ts";
import { readLog } from "./log.ts";
import { lookingPid } from "./look-only.ts";

/** Whether another atlas process lives on this machine; null where the system does not tell. */
export type Others = () => boolean | null;

const goneMark = ".new-gone-";
/** Of a session's record; a job, which holds the command's whole environment. */
const otherLeftover = /^([^/]{1,200}\.json\.\d+-\d+-\d+|e\d+\.a\d+\.[0-9a-f]{8}\.job\.json)$/;
/** Where we write in a run's private store; git writes in the others. */
const foldersOfStore = ["git", "git/info", "git/sealed", "git/objects/info"];

export function sweepBirths(engine: Engine, atlas: string, others: Others, sweep: Sweep): void {
  const { fs } = engine;
  for (const name of stillborn(fs, atlas)) {
    const path = join(atlas, name);
    const why = entryKind(fs, path) === "folder" ? whyAlive(engine, path, name, others) : "not a folder";
    if (why !== null) {
      sweep.kept.push({ path, why });
      continue;
    }
    sweepAway(sweep, path, () => {
      const gone = name.startsWith(goneMark) ? path : join(atlas, `${goneMark}${name.slice(".new-".length)}`);
      if (gone !== path) fs.renameSync(path, gone);
      removeFolder(fs, gone);
      syncFolder(fs, atlas);
    });
  }
}

/** Null: its maker is gone. */
function whyAlive(engine: Engine, path: string, name: string, others: Others): string | null {
  if (name.startsWith(goneMark)) return null;
  const maker = makerOf(engine, path);
  if (maker !== null) return isPerformerAlive(engine.processes, maker, engine.exclusive) ? "its maker may live" : null;
  return others() === false ? null : "its maker is not known";
}

/** The maker as far as the first line tells: the place is its owner's, the pid its own, its start is not recorded. */
function makerOf(engine: Engine, path: string): ProcessIdentity | null {
  const read = readLog(engine.fs, path, ORIGIN);
  const first = read === null || "bad" in read ? undefined : read.chain.lines[0];
  const claimed = first?.events.find((event) => (event as { type?: unknown }).type === "claimed");
  const owner = (claimed as { owner?: Partial<ProcessIdentity> | null } | undefined)?.owner;
  const pid = first?.by.pid;
  if (owner == null || typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 1) return null;
  const text = (value: unknown): string | null => (typeof value === "string" ? value : null);
  const facts = engine.processes.look(pid);
  return {
    machine: text(owner.machine),
    boot: text(owner.boot),
    namespace: text(owner.namespace),
    uid: typeof owner.uid === "number" ? owner.uid : null,
    pid,
    // Whoever has the pid now counts as the maker.
    start: facts === null || facts.dead ? "" : facts.start,
  };
}

/** Temporary files directly in `folders`; they are listed before it is asked who lives. */
export function sweepTemporary(engine: Engine, folders: readonly string[], others: Others, sweep: Sweep): void {
  const { fs } = engine;
  const found = folders.flatMap((folder) =>
    entryKind(fs, folder) !== "folder"
      ? []
      : listFolder(fs, folder)
          .filter((name) => isTemporary(name) || otherLeftover.test(name))
          .filter((name) => entryKind(fs, join(folder, name)) === "file")
          .map((name) => join(folder, name)),
  );
  if (found.length === 0) return;
  const writers = others();
  for (const path of found) {
    if (writers === false) sweepAway(sweep, path, () => fs.unlinkSync(path));
    else sweep.kept.push({ path, why: writers === null ? "its writer is not known" : "its writer may live" });
  }
}

/** Every folder we write to below a run, but for its trees. */
export function temporaryFoldersOf(fs: FileSystem, ledger: string): readonly string[] {
  const found = foldersOfStore.map((name) => join(ledger, name));
  const walk = (folder: string, except: readonly string[]): void => {
    found.push(folder);
    for (const name of listFolder(fs, folder)) {
      if (!except.includes(name) && entryKind(fs, join(folder, name)) === "folder") walk(join(folder, name), []);
    }
  };
  walk(ledger, ["git", "worktree"]);
  return found;
}

/** Of cleanings that were killed: only this user's own, and only when the process they are named for is gone. */
export function sweepLookingPlaces(engine: Engine, others: Others, sweep: Sweep): void {
  const { fs } = engine;
  const uid = process.getuid?.() ?? null;
  const left = listFolder(fs, tmpdir()).flatMap((name) => {
    const pid = lookingPid(name);
    const path = join(tmpdir(), name);
    if (pid === null || entryKind(fs, path) !== "folder" || (uid !== null && fs.lstatSync(path).uid !== uid)) return [];
    const facts = engine.processes.look(pid);
    return facts === null || facts.dead ? [path] : [];
  });
  // A pid says nothing of another container that shares the folder.
  if (left.length === 0 || others() !== false) return;
  for (const path of left) sweepAway(sweep, path, () => removeFolder(fs, path));
}
