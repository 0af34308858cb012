/**
 * What killed writers left: births that never came to be (`.new-…`) and temporary siblings (`.tmp-…`).
 *
 * No clock decides. A birth says in its first line who made it: it goes when that process is provably gone. Where no
 * line can be read, and for temporary files, which name nobody, it goes when no other atlas process lives here;
 * where that cannot be told, it stays. A birth is renamed before it is removed: a maker that lives after all (on
 * another machine) then fails at its own rename, and a run that was told as born is never gutted.
 *
 * What a failure leaves behind: a `.new-gone-…` folder, which the next call removes.
 */
import { join } from "node:path";
import { ORIGIN } from "../core/line.ts";
import type { ProcessIdentity } from "../core/owner.ts";
import { entryKind, listFolder, removeFolder, syncFolder } from "../platform/files.ts";
import { isPerformerAlive } from "../platform/performer-client.ts";
import { stillborn } from "./birth.ts";
import { type Sweep, sweepAway } from "./clean-sweep.ts";
import type { Engine } from "./context.ts";
import { readLog } from "./log.ts";

/** Whether another atlas process lives on this machine; null where the system does not tell. */
export type Others = () => boolean | null;

const goneMark = ".new-gone-";
const temporary = /^\.tmp-[0-9a-f]{12}$/;
/** Where `replaceFile` and its kin write, below a run. */
const foldersOfRun = ["", "artifacts", "results", "git", "git/info", "git/sealed", "git/objects/info"];

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
          .filter((name) => temporary.test(name) && entryKind(fs, join(folder, name)) === "file")
          .map((name) => join(folder, name)),
  );
  if (found.length === 0) return;
  const writers = others();
  for (const path of found) {
    if (writers === false) sweepAway(sweep, path, () => fs.unlinkSync(path));
    else sweep.kept.push({ path, why: writers === null ? "its writer is not known" : "its writer may live" });
  }
}

export function temporaryFoldersOf(ledger: string): readonly string[] {
  return foldersOfRun.map((name) => join(ledger, name));
}
