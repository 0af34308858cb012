/**
 * Which files below an `.atlas/` an editing tool may write: those in the tree of a live lease, and the result of a
 * lease or a submit that is live. Both the path as written and the path it leads to must be allowed.
 */
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { isRunId } from "../core/ids.ts";
import { entryKind } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { treeLeases } from "./lease-mark.ts";

/** The refusal's reason, or null: none of the paths is ours to guard, or all are allowed. */
export function editRefusal(fs: FileSystem, cwd: string, paths: readonly string[]): string | null {
  for (const path of paths) {
    const written = resolve(cwd, path);
    const led = realPathOf(fs, written);
    if (!isAllowed(fs, written) || (led !== written && !isAllowed(fs, led))) {
      return "Files below .atlas/ are written by the atlas command only. Run: atlas next";
    }
  }
  return null;
}

/** Every `.atlas` in the path is looked at: a tree of a run may hold a project with one of its own. */
function isAllowed(fs: FileSystem, path: string): boolean {
  const segments = path.split(/[\\/]/);
  return segments.every((segment, at) => {
    // macOS and Windows take any letter case; a path of another case is no other folder there.
    if (segment.toLowerCase() !== ".atlas" || at === segments.length - 1) return true;
    const atlas = segments.slice(0, at + 1).join(sep);
    return isAllowedBelow(fs, atlas === "" ? sep : atlas, segments.slice(at + 1));
  });
}

function isAllowedBelow(fs: FileSystem, atlas: string, rest: readonly string[]): boolean {
  const [id, ...inRun] = rest;
  if (!isRunId(id)) return false;
  const adopted = inRun[0] === "adopted";
  const below = adopted ? inRun.slice(1) : inRun;
  const home = join(atlas, id, ...(adopted ? ["adopted"] : []));
  const name = below[1] as string;
  if (below[0] === "worktree") return below.length > 2 && isTreeAtWork(fs, home, name);
  return below[0] === "results" && below.length === 2 && isAwaitedResult(fs, join(home, "results"), name);
}

/** A tree that is judged, or was given up, is nobody's to edit: only the one a live lease was handed out for. */
function isTreeAtWork(fs: FileSystem, home: string, name: string): boolean {
  return treeLeases(fs, home).some(({ tree }) => basename(tree) === name && basename(dirname(tree)) === "worktree");
}

function isAwaitedResult(fs: FileSystem, results: string, name: string): boolean {
  const dot = name.lastIndexOf(".");
  const extension = name.slice(dot);
  if (dot <= 0 || extension === ".lease" || extension === ".submit") return false;
  const base = join(results, name.slice(0, dot));
  return entryKind(fs, `${base}.lease`) === "file" || entryKind(fs, `${base}.submit`) === "file";
}

/** The path with the links of its deepest existing ancestor resolved. */
export function realPathOf(fs: FileSystem, path: string): string {
  const rest: string[] = [];
  let at = path;
  for (;;) {
    try {
      return join(fs.realpathSync(at), ...rest);
    } catch {
      const parent = dirname(at);
      if (parent === at || !isAbsolute(at)) return path;
      rest.unshift(basename(at));
      at = parent;
    }
  }
}
