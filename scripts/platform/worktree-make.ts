/**
 * Makes a run's own working tree.
 *
 * What a failure leaves behind: a half-made tree under `<parent>/.making/<name>`, registered with git; the next
 * call discards it. The final path appears by one rename, whole. A tree that stands at the final path is never
 * overwritten: it is accepted when it holds nothing but the wanted files, and refused otherwise.
 * Its files are not synced: they can be made again from the tree id, and whoever takes the run over after a power loss
 * compares (`engine/torn-tree.ts`). What makes it a tree of git's is durable before it has its name.
 */
import { basename, dirname, join } from "node:path";
import { ok, type Result, refuse } from "../core/result.ts";
import { changesBetween } from "./changes.ts";
import { baseCommit, giveTree, peeled } from "./commits.ts";
import {
  entryKind,
  errno,
  failure,
  isTemporary,
  listFolder,
  makeFolder,
  readBounded,
  removeFolder,
  removeQuietly,
  replaceFile,
  syncFolder,
} from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { type Git, gitFailure, lineOrNull, must, mustLine } from "./git.ts";
import { writeEmptyTree } from "./repository.ts";
import { isObjectId, type Snapshots } from "./snapshot.ts";
import { syncContent, syncTree } from "./sync-tree.ts";
import { entryOf, halfMadeReason, inspectTree, type TreeAt } from "./worktree.ts";

export interface TreeOrder extends TreeAt {
  /** A commit, or a bare tree (then a fixed commit is made of it), or null: nothing (an unborn branch). */
  readonly base: string | null;
  /** A snapshot's tree id: the files to write. Default: the base's. */
  readonly tree?: string;
}

export interface MadeTree {
  /** HEAD of the tree, detached. */
  readonly head: string;
  /** The tree its files were written from. */
  readonly tree: string;
}

/**
 * A detached linked working tree at `path`: its files are `tree` byte for byte, its index is HEAD's, so `git status`
 * there shows exactly the difference. No filter, hook or other code of the repository runs. Doing it twice is doing
 * it once. Refused with `tree.unknown`, `tree.foreign`, `tree.locked`, `tree.occupied`, `tree.differs`.
 */
export function makeTree(git: Git, fs: FileSystem, snapshots: Snapshots, order: TreeOrder): Result<MadeTree> {
  const head = commitFor(git, fs, snapshots, order);
  const tree = head === null ? null : snapshots.treeOf(order.tree ?? head);
  if (head === null || tree === null) {
    const id = head === null ? order.base : order.tree;
    return refuse("tree.unknown", `there is no commit or tree ${id} here`, "atlas doctor");
  }
  const making = { path: join(dirname(order.path), ".making", basename(order.path)), commonDir: order.commonDir };
  const at = inspectTree(git, fs, order);
  if (at.is === "foreign" || at.is === "not-a-worktree") {
    return refuse("tree.foreign", `${order.path}: ${at.why}`, "move it away, then: atlas resume");
  }
  if (at.is === "locked") {
    return refuse("tree.locked", `${order.path} is ${at.why}`, `git worktree unlock ${JSON.stringify(order.path)}`);
  }
  if (at.is === "ours" && at.entry !== null) {
    const accepted = accept(git, fs, snapshots, order, head, tree, at.entry.adminDir);
    if (accepted.ok) discardTree(git, fs, making);
    return accepted;
  }
  if (
    at.is === "unregistered-folder" &&
    listFolder(fs, order.path).some((name) => name !== ".git" || at.entry === null)
  ) {
    return refuse("tree.occupied", `${order.path}: ${at.why}`, "move it away, then: atlas resume");
  }
  discardTree(git, fs, order);
  discardTree(git, fs, making);

  makeFolder(fs, dirname(making.path));
  const add = [
    "-c",
    "worktree.useRelativePaths=false",
    "worktree",
    "add",
    "--no-checkout",
    "--detach",
    making.path,
    head,
  ];
  must(git, add, { cwd: order.commonDir, env: { GIT_DIR: order.commonDir } });
  const adminDir = mustLine(git, ["rev-parse", "--path-format=absolute", "--git-dir"], { cwd: making.path });
  fill(git, fs, snapshots, making.path, adminDir, tree);
  settleEntry(fs, making.path, adminDir, order.commonDir);
  place(fs, making.path, order.path, adminDir);
  return ok({ head, tree });
}

/**
 * Renames a tree of ours, so that writers of a dead epoch lose their path before it is removed. Doing it twice is
 * doing it once. Refused with `tree.foreign` (also for a locked one) and `tree.occupied`.
 */
export function moveTree(git: Git, fs: FileSystem, from: TreeAt, to: string): Result<null> {
  const target = { path: to, commonDir: from.commonDir };
  const there = inspectTree(git, fs, target);
  const here = inspectTree(git, fs, from);
  if (here.is === "absent" && there.is === "ours" && there.entry !== null) {
    register(fs, to, there.entry.adminDir);
    return ok(null);
  }
  if (here.is !== "ours" || here.entry === null) {
    return refuse("tree.foreign", `${from.path}: ${here.why}`, "atlas doctor");
  }
  if (there.is !== "absent") return refuse("tree.occupied", `${to} exists already`, "atlas doctor");
  makeFolder(fs, dirname(to));
  place(fs, from.path, to, here.entry.adminDir);
  return ok(null);
}

/**
 * Removes a tree and git's entry of it without looking at its content: for half-made ones, and for what
 * `worktree-remove.ts` has looked at.
 */
export function discardTree(git: Git, fs: FileSystem, at: TreeAt): void {
  const entry = entryOf(fs, at);
  const there = entryKind(fs, at.path) === "folder";
  if (entry !== null) {
    // A deletion that was killed may have taken the .git file first; git refuses to go on without it.
    if (there) register(fs, at.path, entry.adminDir);
    const force = entry.lockReason === halfMadeReason || !there ? ["--force", "--force"] : ["--force"];
    const remove = ["worktree", "remove", ...force, at.path];
    const done = git.run(remove, { cwd: at.commonDir, env: { GIT_DIR: at.commonDir } });
    // Git does not know an entry whose HEAD was not written yet: a `worktree add` killed at its very beginning.
    const headless = entryKind(fs, join(entry.adminDir, "HEAD")) !== "file";
    if (done.code !== 0 && !headless) throw gitFailure(remove, done);
    if (entryKind(fs, entry.adminDir) === "folder") removeFolder(fs, entry.adminDir);
  }
  try {
    if (entryKind(fs, at.path) === "folder") removeFolder(fs, at.path);
    if (basename(dirname(at.path)) === ".making" && listFolder(fs, dirname(at.path)).length === 0) {
      if (entryKind(fs, dirname(at.path)) === "folder") fs.rmdirSync(dirname(at.path));
    }
  } catch (error) {
    throw failure(error, at.path);
  }
}

function commitFor(git: Git, fs: FileSystem, snapshots: Snapshots, order: TreeOrder): string | null {
  const { base, commonDir } = order;
  if (base === null) return baseCommit(git, fs, commonDir, writeEmptyTree(git, commonDir));
  if (!isObjectId(base)) return null;
  const commit = peeled(git, commonDir, base, "commit");
  if (commit !== null) return commit;
  // The empty tree is known to git without being stored.
  if (base === writeEmptyTree(git, commonDir)) return baseCommit(git, fs, commonDir, base);
  if (snapshots.treeOf(base) !== base) return null;
  if (peeled(git, commonDir, base, "tree") === null) giveTree(git, fs, snapshots, commonDir, base);
  return baseCommit(git, fs, commonDir, base);
}

/** A tree that stands there already: complete, or a subset of the wanted files that can be completed. */
function accept(
  git: Git,
  fs: FileSystem,
  snapshots: Snapshots,
  order: TreeOrder,
  head: string,
  tree: string,
  adminDir: string,
): Result<MadeTree> {
  register(fs, order.path, adminDir);
  const now = snapshots.take(order.path, { except: [] });
  const changes = changesBetween(snapshots, tree, now.tree);
  const other = changes.some((change) => change.status !== "D");
  const headNow = lineOrNull(git, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { cwd: order.path });
  if (other || (headNow !== null && headNow !== head)) {
    return refuse("tree.differs", `${order.path} holds other work`, "atlas resume");
  }
  if (headNow === null) must(git, ["update-ref", "--no-deref", "HEAD", head], { cwd: order.path });
  const indexed = entryKind(fs, join(adminDir, "index")) === "file";
  const missing = changes.some((change) => change.oldMode !== "160000");
  if (missing || !indexed) {
    removeQuietly(fs, join(adminDir, "index.lock"));
    fill(git, fs, snapshots, order.path, adminDir, tree);
  }
  removeQuietly(fs, join(adminDir, "locked"));
  // Whoever renamed it may have been killed before this.
  syncName(fs, order.path);
  return ok({ head, tree });
}

function fill(git: Git, fs: FileSystem, snapshots: Snapshots, path: string, adminDir: string, tree: string): void {
  // `worktree add` copies a sparse checkout's settings; in this tree every file stands.
  const own = join(adminDir, "config.worktree");
  if (entryKind(fs, own) === "file") {
    must(git, ["config", "--file", own, "core.sparseCheckout", "false"], { cwd: path });
  }
  const durable = ["-c", "core.fsync=committed,reference,index", "-c", "core.sparseCheckout=false"];
  must(git, [...durable, "read-tree", "HEAD"], { cwd: path });
  snapshots.materialise(tree, path);
}

/** Before the tree has its name: a folder there that git does not know would be taken for somebody else's. */
function settleEntry(fs: FileSystem, path: string, adminDir: string, commonDir: string): void {
  syncContent(fs, join(path, ".git"));
  syncFolder(fs, path);
  syncTree(fs, adminDir);
  syncFolder(fs, dirname(adminDir));
  syncFolder(fs, commonDir);
}

function place(fs: FileSystem, from: string, to: string, adminDir: string): void {
  try {
    if (entryKind(fs, to) === "folder") fs.rmdirSync(to);
    fs.renameSync(from, to);
  } catch (error) {
    throw failure(error, to);
  }
  register(fs, to, adminDir);
  if (basename(dirname(from)) === ".making") removeEmpty(fs, dirname(from));
  syncName(fs, to);
}

/** Of the first tree, the folder of trees is as young as the tree. */
function syncName(fs: FileSystem, path: string): void {
  syncFolder(fs, dirname(path));
  syncFolder(fs, dirname(dirname(path)));
}

/** Tree and entry name each other, by absolute paths. */
function register(fs: FileSystem, path: string, adminDir: string): void {
  keepLine(fs, join(path, ".git"), `gitdir: ${adminDir}\n`);
  keepLine(fs, join(adminDir, "gitdir"), `${join(path, ".git")}\n`);
  // Of a registering that was killed: `clean` looks after our own folders and never into the user's repository.
  for (const name of listFolder(fs, adminDir)) if (isTemporary(name)) removeQuietly(fs, join(adminDir, name));
}

function keepLine(fs: FileSystem, path: string, line: string): void {
  const read = readBounded(fs, path, 64 * 1024);
  if (read.kind === "file" && read.bytes.toString("utf8") === line) return;
  replaceFile(fs, path, line, true);
}

function removeEmpty(fs: FileSystem, path: string): void {
  try {
    fs.rmdirSync(path);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(errno(error))) throw failure(error, path);
  }
}
