/**
 * Whether an agent that writes for a run stays in the tree it was given. An agent whose tree is gone would go on in the
 * user's own files, and its work would be nobody's. Only where the host names the agent's role. Reads only.
 */
import { dirname, join, resolve, sep } from "node:path";
import { roleOf } from "../core/lease-line.ts";
import { entryKind } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { unfinishedIds } from "../platform/peek.ts";
import type { Place } from "../platform/places.ts";
import { realPathOf } from "./edit-guard.ts";
import { treeLeases } from "./lease-mark.ts";

/** The refusal's reason, or null: the agent has no tree of its own, or stays in it, or writes where no run is. */
export function strayReason(
  fs: FileSystem,
  places: readonly Place[],
  agent: string,
  cwd: string,
  paths: readonly string[],
): string | null {
  const given = places.flatMap(({ atlas }) => treesGiven(fs, atlas, roleOf(agent)));
  if (given.length === 0) return null;
  const gone = given.filter((tree) => entryKind(fs, tree) !== "folder");
  for (const path of paths.map((named) => realPathOf(fs, resolve(cwd, named)))) {
    // Several runs may have an agent of this role out, and nobody says whose it is: any of their trees will do.
    if (given.some((tree) => !gone.includes(tree) && isBelow(path, tree))) continue;
    if (gone.some((tree) => isBelow(path, tree))) return "The tree you were given is gone: write nothing, and end.";
    if (places.some(({ root }) => isBelow(path, root) && !isBelow(path, join(root, ".atlas")))) {
      return "Work in the tree your packet names: this file is the user's own.";
    }
  }
  return null;
}

/** Own trees that live leases of this role were handed out for. */
function treesGiven(fs: FileSystem, atlas: string, role: string): readonly string[] {
  return unfinishedIds(fs, atlas).flatMap((id) =>
    [join(atlas, id), join(atlas, id, "adopted")].flatMap((home) =>
      treeLeases(fs, home)
        // A lease's file may be anybody's: a tree of this very run, or none.
        .filter((lease) => lease.role === role && dirname(lease.tree) === join(home, "worktree"))
        .map(({ tree }) => tree),
    ),
  );
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
