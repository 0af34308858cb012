/**
 * Keeps a working tree whole under refs of the project: tracked, staged and untracked content. Nothing of the
 * repository runs.
 *
 * What a failure leaves behind: objects nobody names, or the `worktree` ref without the `index` ref; the next call
 * writes what is missing. Objects, refs and their folders are synced before it returns.
 */
import { basename, dirname, join } from "node:path";
import { EnvironmentFailure, ok, type Result, refuse } from "../core/result.ts";
import { fixedCommit, peeled } from "./commits.ts";
import { entryKind, errno, failure, syncFolder } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { type Git, lineOrNull, must } from "./git.ts";
import { isNameable } from "./git-paths.ts";
import { sha256 } from "./hash.ts";
import { ignoredPaths } from "./raw-tree.ts";
import type { Snapshots } from "./snapshot.ts";
import { stagedTree } from "./staged.ts";
import { inspectTree, type TreeAt } from "./worktree.ts";
import { headOf } from "./worktree-remove.ts";

export interface KeepOrder extends TreeAt {
  /** `refs/atlas/<run>/e<epoch>/kept/<name>`; of what an earlier epoch kept under that name, the same is not kept again. */
  readonly refPrefix: string;
  /** Whoever may have been writing these refs is provably gone: a lock found on one is removed. */
  readonly performerGone?: boolean;
  /** ISO 8601 with a zone; fixed by default. */
  readonly date?: string;
}

export interface KeptRef {
  readonly ref: string;
  readonly commit: string;
}

export interface Kept {
  /** The raw working files; parent: the tree's HEAD, so its commits are kept too. */
  readonly worktree: KeptRef;
  readonly tree: string;
  /** The staged content, where it is neither HEAD's nor the working files'. */
  readonly index: KeptRef | null;
  /** Ignored files, at most 1,000; their content is not kept. `bytes` is null where it could not be asked. */
  readonly ignored: readonly { readonly path: string; readonly bytes: number | null }[];
  readonly ignoredCount: number;
  /** Repositories inside the tree: not kept, and `removeTree` will not remove the tree. */
  readonly nested: readonly string[];
}

const ignoredMax = 1000;
const namesMax = 100;

/**
 * Keeps the tree; the same content already kept there, or by an earlier epoch that was killed before it could say so,
 * gives the same refs and writes nothing but what is missing of them. Other content under that name is never
 * overwritten: the next free `<prefix>.<n>` is taken. Refused with `tree.foreign`, `keep.ref`.
 * Throws EnvironmentFailure `git.ref_locked` where a ref's lock stands and its holder may live.
 */
export function keepTree(git: Git, fs: FileSystem, snapshots: Snapshots, order: KeepOrder): Result<Kept> {
  const { path, commonDir, refPrefix } = order;
  if (!refPrefix.startsWith("refs/atlas/") || !isRefName(git, `${refPrefix}/worktree`)) {
    return refuse("keep.ref", `git takes no ref ${JSON.stringify(refPrefix)}`, "atlas doctor");
  }
  const at = inspectTree(git, fs, order);
  if ((at.is !== "ours" && at.is !== "locked") || at.entry === null) {
    return refuse("tree.foreign", `${path}: ${at.why}`, "atlas doctor");
  }
  const head = headOf(git, at.entry.adminDir);
  const raw = snapshots.takeInto(join(commonDir, "objects"), path, { except: [] });
  const staged = stagedTree(git, snapshots, at.entry.adminDir, commonDir);
  const headTree = head === null ? null : peeled(git, commonDir, head, "tree");
  const stagedApart = staged !== null && staged !== headTree && staged !== raw.tree ? staged : null;
  const ignored = ignoredPaths(git, snapshots.place(path, join(snapshots.gitDir, "none"), { except: [] }));
  const shown = ignored.slice(0, ignoredMax).map((name) => ({ path: name, bytes: sizeOf(fs, path, name) }));

  const parents = head === null ? [] : [head];
  const keep = (ref: string, tree: string, message: string): KeptRef => {
    const commit = peeled(git, commonDir, ref, "commit");
    if (commit !== null) return { ref, commit };
    const made = fixedCommit(git, fs, commonDir, { tree, parents, message, ...dated(order) });
    createRef(git, fs, order, ref, made);
    return { ref, commit: made };
  };
  const prefix = freePrefix(git, commonDir, refPrefix, parents, raw.tree, stagedApart);
  const worktree = keep(`${prefix}/worktree`, raw.tree, message(path, shown, ignored.length));
  const index =
    stagedApart === null ? null : keep(`${prefix}/index`, stagedApart, `atlas: staged content of ${named(path)}\n`);
  syncRefs(fs, commonDir, prefix);
  return ok({ worktree, tree: raw.tree, index, ignored: shown, ignoredCount: ignored.length, nested: raw.nested });
}

/** A ref's segment for a run: its id where git takes it (`x.lock` it does not), else `x-<8 hex of its sha-256>`. */
export function refSegment(git: Git, runId: string): string {
  return isRefName(git, `refs/atlas/${runId}/e0`) ? runId : `x-${sha256(runId).slice(0, 8)}`;
}

function isRefName(git: Git, ref: string): boolean {
  return git.run(["check-ref-format", ref], { cwd: "." }).code === 0;
}

/** The first name under which this content is kept already, whichever epoch did it, or nothing else is. */
function freePrefix(
  git: Git,
  commonDir: string,
  refPrefix: string,
  parents: readonly string[],
  tree: string,
  staged: string | null,
): string {
  const fits = (ref: string, wanted: string | null): boolean => {
    const commit = peeled(git, commonDir, ref, "commit");
    if (commit === null) return true;
    const on = { cwd: commonDir, env: { GIT_DIR: commonDir } };
    const found = lineOrNull(git, ["show", "--no-patch", "--no-show-signature", "--format=%T %P", commit], on);
    return found?.trim() === [wanted ?? "", ...parents].join(" ").trim();
  };
  const isKeptAs = (prefix: string): boolean => fits(`${prefix}/worktree`, tree) && fits(`${prefix}/index`, staged);
  const before = prefixesOfEarlier(git, commonDir, refPrefix).find(isKeptAs);
  if (before !== undefined) return before;
  for (let at = 1; at <= namesMax; at += 1) {
    const prefix = at === 1 ? refPrefix : `${refPrefix}.${at}`;
    if (isKeptAs(prefix)) return prefix;
  }
  throw new EnvironmentFailure("keep.full", `${refPrefix} keeps ${namesMax} trees already`, "atlas clean");
}

/** Where other epochs of the run have kept something under this name; each holds at least one ref. */
function prefixesOfEarlier(git: Git, commonDir: string, refPrefix: string): readonly string[] {
  const [, run, name] = /^(refs\/atlas\/[^/]+)\/e\d+\/kept\/([^/]+)$/.exec(refPrefix) ?? [];
  if (run === undefined || name === undefined) return [];
  const list = ["for-each-ref", "--format=%(refname)", `${run}/*/kept/${name}/*`, `${run}/*/kept/${name}.*/*`];
  const listed = must(git, list, { cwd: commonDir, env: { GIT_DIR: commonDir } }).toString("utf8");
  const prefixes = listed.split("\n").flatMap((ref) => /^(.+)\/(?:worktree|index)$/.exec(ref)?.[1] ?? []);
  return [...new Set(prefixes)];
}

function createRef(git: Git, fs: FileSystem, order: KeepOrder, ref: string, commit: string): void {
  const lock = join(order.commonDir, `${ref}.lock`);
  if (entryKind(fs, lock) !== "absent") {
    if (order.performerGone !== true) {
      throw new EnvironmentFailure("git.ref_locked", `another process is writing ${ref}`, "atlas resume");
    }
    try {
      fs.unlinkSync(lock);
    } catch (error) {
      if (errno(error) !== "ENOENT") throw failure(error, lock);
    }
  }
  const none = "0".repeat(commit.length);
  const args = ["-c", "core.logAllRefUpdates=false", "update-ref", "--no-deref", ref, commit, none];
  must(git, args, { cwd: order.commonDir, env: { GIT_DIR: order.commonDir } });
}

/** Git syncs a ref's file and leaves its folders. */
function syncRefs(fs: FileSystem, commonDir: string, prefix: string): void {
  const root = join(commonDir, "refs");
  for (let folder = join(commonDir, prefix); folder.startsWith(root); folder = dirname(folder)) {
    if (entryKind(fs, folder) === "folder") syncFolder(fs, folder);
  }
}

function sizeOf(fs: FileSystem, root: string, path: string): number | null {
  if (path.endsWith("/") || !isNameable(path)) return null;
  try {
    return fs.lstatSync(join(root, path)).size;
  } catch {
    return null;
  }
}

function message(path: string, ignored: Kept["ignored"], count: number): string {
  const head = `atlas: working files of ${named(path)}\n`;
  if (count === 0) return head;
  const lines = ignored.map((file) => `${file.bytes ?? "?"} ${JSON.stringify(file.path)}`);
  return `${head}\nIgnored, not kept (${count}):\n${lines.join("\n")}\n`;
}

function named(path: string): string {
  return JSON.stringify(basename(path));
}

function dated(order: KeepOrder): { readonly date?: string } {
  return order.date === undefined ? {} : { date: order.date };
}
