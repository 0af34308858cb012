/**
 * Removes a run's own working tree, once nothing in it can be lost.
 *
 * What a failure leaves behind: a tree with fewer files. It is still a subset of what is kept, so the next call goes
 * on. Between the last look and the deletion a living writer could add a file: rename the tree first (`moveTree`),
 * so that a writer of a dead epoch no longer has its path.
 */
import { dirname, join } from "node:path";
import { changesBetween } from "./changes.ts";
import { baseCommit, peeled } from "./commits.ts";
import { entryKind, syncFolder } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import type { Git } from "./git.ts";
import { isNameable } from "./git-paths.ts";
import { allPaths } from "./raw-tree.ts";
import type { Snapshots } from "./snapshot.ts";
import { stagedTree } from "./staged.ts";
import { inspectTree, isLocked, type TreeAt } from "./worktree.ts";
import { discardTree } from "./worktree-make.ts";

export interface RemoveOrder extends TreeAt {
  /** `<prefix>/worktree` of `keepTree`; without it the tree must be clean and its HEAD reachable. */
  readonly keptRef?: string;
}

export type Removed = { readonly removed: true } | { readonly removed: false; readonly why: string };

/** Absent already: removed. Foreign, locked, nested repositories, a ledger, anything not kept: not removed, and why. */
export function removeTree(git: Git, fs: FileSystem, snapshots: Snapshots, order: RemoveOrder): Removed {
  const at = inspectTree(git, fs, order);
  // Its .git file went in a deletion that was killed; everything else is asked as of a whole one.
  const torn = at.is === "unregistered-folder" && at.entry !== null && !isLocked(at.entry);
  if (at.is !== "absent" && at.is !== "ours" && !torn) return { removed: false, why: at.why };
  if (at.is !== "absent" && at.entry !== null) {
    const why = loss(git, fs, snapshots, order, at.entry.adminDir);
    if (why !== null) return { removed: false, why };
  }
  discardTree(git, fs, order);
  if (entryKind(fs, dirname(order.path)) === "folder") syncFolder(fs, dirname(order.path));
  const entries = join(order.commonDir, "worktrees");
  if (entryKind(fs, entries) === "folder") syncFolder(fs, entries);
  return { removed: true };
}

/** What would be lost, in words; null when nothing would. */
function loss(git: Git, fs: FileSystem, snapshots: Snapshots, order: RemoveOrder, adminDir: string): string | null {
  const { path, commonDir, keptRef } = order;
  if (entryKind(fs, join(path, ".atlas")) !== "absent") return "it holds an .atlas folder";
  const nested = nestedIn(git, fs, snapshots, path);
  if (nested.length > 0) return `it holds other repositories: ${listed(nested)}`;

  const head = headOf(git, adminDir);
  const kept = keptRef === undefined ? head : peeled(git, commonDir, keptRef, "commit");
  if (kept === null) return keptRef === undefined ? "its HEAD names no commit" : "it is not kept under a ref";
  const keptTree = snapshots.treeOf(kept);
  if (keptTree === null) return "the tree it is kept as cannot be read";

  const now = snapshots.take(path, { except: [] });
  const unkept = changesBetween(snapshots, keptTree, now.tree).filter((change) => change.status !== "D");
  if (unkept.length > 0) return `it holds files that are not kept: ${listed(unkept.map((change) => change.path))}`;
  if (head !== null && !isReachable(git, fs, snapshots, commonDir, head, kept, keptRef)) {
    return "its commits are not reachable from another ref";
  }
  const staged = stagedTree(git, snapshots, adminDir, commonDir);
  const safe = [keptTree, now.tree, head === null ? null : snapshots.treeOf(head)];
  if (keptRef !== undefined) safe.push(peeled(git, commonDir, keptRef.replace(/\/worktree$/, "/index"), "tree"));
  return staged === null || safe.includes(staged) ? null : "it holds staged content that is not kept";
}

/** Commit a working tree's HEAD names, null when none. */
export function headOf(git: Git, adminDir: string): string | null {
  return peeled(git, adminDir, "HEAD", "commit");
}

/** Repositories below the tree's root, ignored ones and broken ones too. */
function nestedIn(git: Git, fs: FileSystem, snapshots: Snapshots, path: string): readonly string[] {
  const paths = allPaths(git, snapshots.place(path, join(snapshots.gitDir, "none"), { except: [] }));
  const folders = new Set<string>();
  for (const file of paths) {
    for (let at = file.indexOf("/"); at !== -1; at = file.indexOf("/", at + 1)) folders.add(file.slice(0, at));
  }
  const broken = [...folders].filter(
    (name) => isNameable(name) && entryKind(fs, join(path, name, ".git")) !== "absent",
  );
  const whole = paths.filter((name) => name.endsWith("/")).map((name) => name.slice(0, -1));
  return [...new Set([...whole, ...broken])].sort();
}

function isReachable(
  git: Git,
  fs: FileSystem,
  snapshots: Snapshots,
  commonDir: string,
  head: string,
  kept: string,
  keptRef: string | undefined,
): boolean {
  const on = { cwd: commonDir, env: { GIT_DIR: commonDir } };
  if (keptRef !== undefined && git.run(["merge-base", "--is-ancestor", head, kept], on).code === 0) return true;
  const refs = git.run(["for-each-ref", "--count=1", "--format=%(refname)", "--contains", head], on);
  if (refs.code === 0 && refs.stdout.length > 0) return true;
  // The commit a tree stands on that had none: made of a tree id alone, so it can be made again.
  const tree = snapshots.treeOf(head);
  return tree !== null && baseCommit(git, fs, commonDir, tree) === head;
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).map((path) => JSON.stringify(path));
  return paths.length > shown.length ? `${shown.join(", ")} and ${paths.length - shown.length} more` : shown.join(", ");
}
