/** The folders that hold runs: which were found, which may not be trusted, and whether they can carry a ledger. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { EnvironmentFailure } from "../core/result.ts";
import { removeQuietly, writeNew } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import type { Place, Untrusted } from "../platform/places.ts";
import { realPath } from "../platform/repository.ts";
import type { Engine } from "./context.ts";
import { bad, type Check, fine, guarded, shellQuoted } from "./doctor-check.ts";
import { fileSystemType, readMounts, suspectType, syncedBy } from "./file-systems.ts";

export interface PlacesSeen {
  readonly places: readonly Place[];
  readonly searched: readonly string[];
  readonly inRepository: boolean;
}

/** `mounts`: the system's table, null where there is none. */
export function checkPlaces(engine: Engine, seen: PlacesSeen, mounts: string | null = readMounts()): readonly Check[] {
  const roots = seen.places.map((place) => place.root);
  const searched = seen.searched.length === 0 ? "nowhere" : seen.searched.join(", ");
  const found = roots.length === 0 ? "none yet" : roots.join(", ");
  return [
    fine("places", `runs are kept in: ${found}; searched: ${searched}`),
    ...seen.places.flatMap((place) =>
      place.why === undefined
        ? guarded("place", () => checkPlace(engine, place, seen.inRepository, mounts))
        : [distrusted(place, place.why)],
    ),
    ...(roots.length > 0 ? [] : [carrier(engine.cwd, realPath(engine.fs, engine.cwd), mounts)]),
  ];
}

function distrusted({ atlas }: Place, why: Untrusted): Check {
  if (why === "another user's") {
    return bad("place", `${atlas} is another user's: what lies in it is not resumed`, "atlas status --all");
  }
  return bad("place", `${atlas} is ${why}: nothing in it is read`, `ls -ld ${shellQuoted(atlas)}`);
}

function checkPlace(engine: Engine, place: Place, inRepository: boolean, mounts: string | null): readonly Check[] {
  const { atlas } = place;
  const why = probeWrite(engine.fs, atlas);
  return [
    carrier(atlas, realPath(engine.fs, atlas), mounts),
    why === null
      ? fine("place", `${atlas} is writable`)
      : bad("place", `${atlas}: ${why}`, `chmod u+rwx ${shellQuoted(atlas)}`),
    ...(inRepository ? guarded("tracked", () => [tracked(engine, place)]) : []),
  ];
}

function carrier(path: string, real: string, mounts: string | null): Check {
  const name = "file system";
  const local = "move the project to a local file system";
  const service = syncedBy(real);
  if (service !== null) {
    return bad(name, `warning: ${path} lies in a folder that ${service} rewrites; a ledger can be torn there`, local);
  }
  const type = mounts === null ? null : fileSystemType(mounts, real);
  if (type === null) return fine(name, `${path}: the system does not tell`);
  const suspect = suspectType(type);
  if (suspect === null) return fine(name, `${path} lies on ${type}`);
  return bad(name, `warning: ${path} lies on ${suspect} (${type}); appends and fsync are not to be relied on`, local);
}

/** A ledger that came with the repository is not believed, and one that is committed leaks what was asked. */
function tracked(engine: Engine, { root, atlas }: Place): Check {
  const options = { cwd: root, timeoutMs: 5000, bytesMax: 1024 * 1024 };
  const listed = engine.git.run(["ls-files", "-z", "--", ".atlas"], options);
  if (listed.code !== 0 || listed.stdout.length === 0) return fine("tracked", `${atlas} is not tracked by git`);
  return bad("tracked", `${atlas} is tracked by git, so its runs are not trusted`, "git rm -r --cached .atlas");
}

/** Writes, syncs and removes one byte; null: it went well, else the failure's code and reason. */
export function probeWrite(fs: FileSystem, folder: string): string | null {
  const path = join(folder, `.tmp-${randomBytes(6).toString("hex")}`);
  try {
    writeNew(fs, path, "x", true);
    return null;
  } catch (error) {
    if (!(error instanceof EnvironmentFailure)) throw error;
    return `${error.code}, it cannot be written`;
  } finally {
    removeQuietly(fs, path);
  }
}
