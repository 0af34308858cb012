/**
 * Finding `.atlas` folders without starting git: `.git` and `commondir` are read here.
 * Reads only; a damaged `.git` gives fewer places, never an error. `GIT_DIR` is not looked at: a run belongs to the
 * folder the host works in, not to what a shell happened to export.
 */
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { entryKind, errno, failure, readBounded } from "./files.ts";
import type { FileSystem } from "./fs.ts";

/** How far up a folder is searched, in parents. */
export const PARENTS_MAX = 40;
/** `.git` and `commondir` hold one path; a config is a few kB. */
const pointerBytesMax = 16 * 1024;
const configBytesMax = 256 * 1024;

export type Untrusted = "a link" | "not a folder" | "another user's" | "unreadable";

export interface Place {
  /** The folder that holds `.atlas`, links resolved. */
  readonly root: string;
  readonly atlas: string;
  /** False: nothing in it may be read as ours without the human's word; `a link` and `not a folder` never. */
  readonly trusted: boolean;
  readonly why?: Untrusted;
}

export interface Repository {
  /** Root of the worktree `cwd` lies in; null in a bare repository or inside a git folder. */
  readonly topLevel: string | null;
  /** The common git folder; null when `.git` names none that exists. */
  readonly commonDir: string | null;
  /** Root of the main worktree; null where there is none (bare). */
  readonly mainRoot: string | null;
}

export interface Places {
  /** Those that exist, nearest first, each folder once whatever paths lead to it. */
  readonly places: readonly Place[];
  readonly repository: Repository | null;
  /** Every folder that was looked into, for an empty answer that names them. */
  readonly searched: readonly string[];
}

export interface Searcher {
  /** Search outside git stops here; null: no such limit. */
  readonly home: string | null;
  /** Null where the system has no uids. */
  readonly uid: number | null;
}

/** Every `.atlas` a run could be in, seen from `cwd`. A `cwd` that does not exist has none. */
export function findPlaces(fs: FileSystem, cwd: string, searcher: Searcher): Places {
  const real = realPath(fs, cwd);
  if (real === null) return { places: [], repository: null, searched: [] };
  const repository = findRepository(fs, real);
  if (repository !== null) {
    const roots = [real, repository.topLevel, repository.mainRoot].filter((root) => root !== null);
    return { places: placesAt(fs, roots, searcher.uid), repository, searched: [...new Set(roots)] };
  }
  const searched = parentsOf(real, searcher.home === null ? null : realPath(fs, searcher.home));
  for (const root of searched) {
    const found = placesAt(fs, [root], searcher.uid);
    // A stranger's folder further up (/tmp/.atlas) is none of ours; in the cwd itself it is reported.
    if (found.some((place) => place.trusted || root === real)) return { places: found, repository: null, searched };
  }
  return { places: [], repository: null, searched };
}

/** The `.atlas` folders directly in these roots, without looking further up. */
export function placesAt(fs: FileSystem, roots: readonly string[], uid: number | null): readonly Place[] {
  const places: Place[] = [];
  const seen = new Set<string>();
  for (const root of roots) {
    const atlas = join(root, ".atlas");
    try {
      const stat = fs.lstatSync(atlas);
      // By identity, not by letters: a path of another case is the same folder there. Windows' inode numbers can be
      // too long for a number; the time of birth tells two apart that look alike.
      const key = `${stat.dev}:${stat.ino}:${stat.birthtimeMs}`;
      if (seen.has(key)) continue;
      seen.add(key);
      if (stat.isSymbolicLink()) places.push({ root, atlas, trusted: false, why: "a link" });
      else if (!stat.isDirectory()) places.push({ root, atlas, trusted: false, why: "not a folder" });
      else if (uid !== null && stat.uid !== uid) places.push({ root, atlas, trusted: false, why: "another user's" });
      else places.push({ root, atlas, trusted: true });
    } catch (error) {
      // Absent, or a parent we may not enter: no place. A failing disk is never "nothing there".
      if (errno(error) === "EIO") throw failure(error, atlas);
    }
  }
  return places;
}

function parentsOf(from: string, top: string | null): readonly string[] {
  const folders = [from];
  let folder = from;
  while (folders.length <= PARENTS_MAX && folder !== top && dirname(folder) !== folder) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

function findRepository(fs: FileSystem, from: string): Repository | null {
  for (const folder of parentsOf(from, null)) {
    const git = join(folder, ".git");
    const found = describeGit(fs, folder, git);
    if (found !== null) return found;
    if (looksLikeGitFolder(fs, folder)) return insideGitFolder(fs, folder);
  }
  return null;
}

function describeGit(fs: FileSystem, folder: string, git: string): Repository | null {
  const kind = followedKind(fs, git);
  // git itself walks on past a `.git` folder that is no repository.
  if (kind === "folder") {
    return looksLikeGitFolder(fs, git) ? repositoryOf(fs, folder, realPath(fs, git) ?? git) : null;
  }
  if (kind !== "file") return null;
  const named = /^gitdir: (.+?)\s*$/m.exec(textOf(fs, realPath(fs, git) ?? git, pointerBytesMax) ?? "")?.[1];
  const gitFolder = named === undefined ? null : realPath(fs, resolve(folder, named));
  // A `.git` file that leads nowhere still bounds the search: we never go above the repository.
  if (gitFolder === null) return { topLevel: folder, commonDir: null, mainRoot: null };
  return repositoryOf(fs, folder, gitFolder);
}

function repositoryOf(fs: FileSystem, topLevel: string, gitFolder: string): Repository {
  const named = textOf(fs, join(gitFolder, "commondir"), pointerBytesMax)?.trim();
  if (named === undefined || named === "") return { topLevel, commonDir: gitFolder, mainRoot: topLevel };
  const commonDir = realPath(fs, resolve(gitFolder, named));
  return { topLevel, commonDir, mainRoot: commonDir === null ? null : mainRootOf(fs, commonDir) };
}

/** The main worktree's root, seen from a linked one. */
function mainRootOf(fs: FileSystem, commonDir: string): string | null {
  const config = textOf(fs, join(commonDir, "config"), configBytesMax) ?? "";
  const own = textOf(fs, join(commonDir, "config.worktree"), configBytesMax) ?? "";
  if (/^\s*bare\s*=\s*true\s*$/im.test(`${config}\n${own}`)) return null;
  const worktree = /^\s*worktree\s*=\s*(.+?)\s*$/im.exec(`${config}\n${own}`)?.[1];
  if (worktree !== undefined) {
    return realPath(fs, isAbsolute(worktree) ? worktree : resolve(commonDir, worktree));
  }
  return basename(commonDir) === ".git" ? dirname(commonDir) : null;
}

function insideGitFolder(fs: FileSystem, gitFolder: string): Repository {
  const named = textOf(fs, join(gitFolder, "commondir"), pointerBytesMax)?.trim();
  const commonDir = named === undefined || named === "" ? gitFolder : realPath(fs, resolve(gitFolder, named));
  return { topLevel: null, commonDir, mainRoot: commonDir === null ? null : mainRootOf(fs, commonDir) };
}

function looksLikeGitFolder(fs: FileSystem, folder: string): boolean {
  if (entryKind(fs, join(folder, "HEAD")) === "absent") return false;
  if (entryKind(fs, join(folder, "commondir")) === "file") return true;
  return followedKind(fs, join(folder, "objects")) === "folder" && followedKind(fs, join(folder, "refs")) === "folder";
}

/** A `.git` may be a link; what it leads to is what git sees. */
function followedKind(fs: FileSystem, path: string): "file" | "folder" | null {
  try {
    const stat = fs.statSync(path);
    if (stat.isDirectory()) return "folder";
    return stat.isFile() ? "file" : null;
  } catch {
    return null;
  }
}

function textOf(fs: FileSystem, path: string, bytesMax: number): string | null {
  const read = readBounded(fs, path, bytesMax);
  return read.kind === "file" ? read.bytes.toString("utf8") : null;
}

function realPath(fs: FileSystem, path: string): string | null {
  try {
    return isAbsolute(path) ? fs.realpathSync(path) : null;
  } catch (error) {
    if (errno(error) === "EIO") throw failure(error, path);
    return null;
  }
}
