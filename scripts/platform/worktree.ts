/** Whose working tree is this? Reads only; every path and file of the repository is untrusted. */
import { basename, dirname, join, resolve, sep } from "node:path";
import { entryKind, listFolder, readBounded } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { type Git, lineOrNull } from "./git.ts";
import { realPath } from "./repository.ts";

export interface TreeAt {
  /** Where the run recorded its tree, absolute. */
  readonly path: string;
  /** The absolute `--git-common-dir` the run recorded. */
  readonly commonDir: string;
}

export interface Inspection {
  /**
   * `ours`: a linked working tree of exactly this path and repository. `locked`: that, but locked by someone.
   * `foreign`: another repository's, another path's, the main working tree, or behind a link. `not-a-worktree`: no
   * folder. `unregistered-folder`: a folder that is no root of a working tree. `absent`: nothing there.
   */
  readonly is: "absent" | "ours" | "foreign" | "locked" | "not-a-worktree" | "unregistered-folder";
  readonly why: string;
  /** The tree's own folder below `<commonDir>/worktrees`, if git lists this path. */
  readonly entry: TreeEntry | null;
}

export interface TreeEntry {
  readonly adminDir: string;
  /** Null when not locked. */
  readonly lockReason: string | null;
}

/** What a killed `git worktree add` leaves as the reason of its lock. */
export const halfMadeReason = "initializing";

/**
 * Ours only if the absolute common folder **and** the top level are the recorded ones, with no link on the way:
 * a plain folder inside the main working tree answers with that tree's common folder too.
 */
export function inspectTree(git: Git, fs: FileSystem, at: TreeAt): Inspection {
  const entry = entryOf(fs, at);
  const answer = (is: Inspection["is"], why: string): Inspection => ({ is, why, entry });
  const link = linkOnTheWay(fs, at.path);
  if (link !== null) return answer("foreign", `${link} is a link`);
  const kind = entryKind(fs, at.path);
  if (kind === "absent") return answer("absent", entry === null ? "nothing is there" : "its folder is gone");
  if (kind !== "folder") return answer("not-a-worktree", "it is not a folder");

  const ask = (question: string) =>
    lineOrNull(git, ["rev-parse", "--path-format=absolute", question], { cwd: at.path });
  const top = ask("--show-toplevel");
  if (top === null || realPath(fs, top) !== realPath(fs, at.path)) {
    const why = entry === null ? "a folder that is no working tree" : "git lists it, but its .git file is gone";
    return answer("unregistered-folder", why);
  }
  const common = ask("--git-common-dir");
  if (common === null || realPath(fs, common) !== realPath(fs, at.commonDir)) {
    return answer("foreign", "a working tree of another repository");
  }
  const adminDir = ask("--git-dir");
  if (adminDir === null || realPath(fs, adminDir) === realPath(fs, common)) {
    return answer("foreign", "the main working tree");
  }
  if (realPath(fs, dirname(adminDir)) !== realPath(fs, join(at.commonDir, "worktrees"))) {
    return answer("foreign", "its git folder is not among the repository's working trees");
  }
  const listed = listedPath(fs, adminDir);
  if (
    listed !== null &&
    settled(fs, listed) !== settled(fs, at.path) &&
    entryKind(fs, join(listed, ".git")) === "file"
  ) {
    return answer("foreign", "a copy of another working tree");
  }
  const own = { adminDir, lockReason: lockReason(fs, adminDir) };
  const locked = isLocked(own);
  return {
    is: locked ? "locked" : "ours",
    why: locked
      ? `locked: ${own.lockReason === "" ? "no reason given" : own.lockReason}`
      : "a working tree of this run",
    entry: own,
  };
}

/** The entry in which git remembers this path, whether or not the folder is there. */
export function entryOf(fs: FileSystem, at: TreeAt): TreeEntry | null {
  const wanted = settled(fs, at.path);
  const folder = join(at.commonDir, "worktrees");
  for (const name of listFolder(fs, folder)) {
    const adminDir = join(folder, name);
    const listed = listedPath(fs, adminDir);
    if (listed !== null && settled(fs, listed) === wanted) return { adminDir, lockReason: lockReason(fs, adminDir) };
  }
  return null;
}

/** The path an entry of git's stands for. */
function listedPath(fs: FileSystem, adminDir: string): string | null {
  const read = readBounded(fs, join(adminDir, "gitdir"), 64 * 1024);
  return read.kind === "file" ? dirname(resolve(adminDir, read.bytes.toString("utf8").trimEnd())) : null;
}

/** Locked by someone; the lock of a `git worktree add` that was killed does not count. */
export function isLocked(entry: TreeEntry): boolean {
  return entry.lockReason !== null && entry.lockReason !== halfMadeReason;
}

function lockReason(fs: FileSystem, adminDir: string): string | null {
  const read = readBounded(fs, join(adminDir, "locked"), 4096);
  if (read.kind === "absent") return null;
  return read.kind === "file" ? read.bytes.toString("utf8").trim() : "";
}

/** The path with the links of its parents resolved; it need not exist. */
function settled(fs: FileSystem, path: string): string {
  return join(realPath(fs, dirname(path)), basename(path));
}

/** The first link from `.atlas` on down to the path; without an `.atlas` above it, from the root on. */
function linkOnTheWay(fs: FileSystem, path: string): string | null {
  const parts = path.split(sep);
  const first = Math.max(parts.indexOf(".atlas"), 0);
  for (let length = first + 1; length <= parts.length; length += 1) {
    const prefix = parts.slice(0, length).join(sep);
    if (prefix !== "" && entryKind(fs, prefix) === "link") return prefix;
  }
  return null;
}
