/**
 * Trees a run recorded: removed when nothing in them can be lost, else left and named.
 *
 * What a failure leaves behind: a tree under another name of the same run, or one with fewer files, all of them
 * kept elsewhere; the next call goes on.
 */
import { join } from "node:path";
import { EnvironmentFailure } from "../core/result.ts";
import type { Tree } from "../parts/tree.ts";
import { entryKind, listFolder } from "../platform/files.ts";
import { stagedTree } from "../platform/staged.ts";
import { inspectTree, isLocked, type TreeAt } from "../platform/worktree.ts";
import { discardTree, moveTree } from "../platform/worktree-make.ts";
import { headOf, removeTree } from "../platform/worktree-remove.ts";
import { reaching } from "./clean-refs.ts";
import { type Sweep, sweepAway, whyFailed } from "./clean-sweep.ts";
import type { Engine } from "./context.ts";
import { treePath } from "./effects.ts";
import type { Loaded } from "./ledger.ts";
import { type LookingPlace, readOnly, Untouched } from "./look-only.ts";

export interface TreeSweep {
  readonly engine: Engine;
  readonly sweep: Sweep;
  readonly looking: LookingPlace;
  readonly loaded: Loaded;
  readonly commonDir: string;
  /** Kept refs of this run that stay. */
  readonly keptRefs: readonly string[];
}

const ownName = /^e\d{1,9}\.\d{1,9}$/;
const foreignName = /^(worktree|union-worktree|tasks\/[A-Za-z0-9][A-Za-z0-9._-]{0,127}\/worktree)$/;

/** Where the recorded tree lies now: its own name, or the one a later epoch moved it to. */
export function treePathsOf(engine: Pick<Engine, "fs">, loaded: Loaded, tree: Tree): readonly string[] {
  if (tree.foreign) return foreignName.test(tree.name) ? [treePath(loaded.folder, tree.name, true)] : [];
  if (!ownName.test(tree.name)) return [];
  const plain = treePath(loaded.folder, tree.name);
  const trees = join(plain, "..");
  if (entryKind(engine.fs, trees) !== "folder") return [plain];
  const moved = listFolder(engine.fs, trees).filter((name) => isMoved(name, tree.name));
  return [plain, ...moved.map((name) => join(trees, name))];
}

function isMoved(name: string, tree: string): boolean {
  return name.endsWith(`-${tree}`) && /^(e\d{1,9}-)+$/.test(name.slice(0, -tree.length));
}

export function sweepTree(on: TreeSweep, tree: Tree): void {
  // A moved one first: killed in the middle of a move, git still lists it under the name it had.
  const claimed = new Set<string>();
  for (const path of [...treePathsOf(on.engine, on.loaded, tree)].reverse()) sweepAt(on, tree, path, claimed);
  if (tree.foreign || !ownName.test(tree.name)) return;
  sweepHalfMade(on, { path: join(treePath(on.loaded.folder, ".making"), tree.name), commonDir: on.commonDir });
}

/** `claimed`: git's entries that belong to a tree that was looked at already. */
function sweepAt(on: TreeSweep, tree: Tree, path: string, claimed: Set<string>): void {
  const { engine, sweep, commonDir } = on;
  const at = { path, commonDir };
  try {
    const found = inspectTree(engine.git, engine.fs, at);
    if (found.is === "absent") {
      if (found.entry === null || claimed.has(found.entry.adminDir)) return;
      const why = isLocked(found.entry) ? "locked" : lossOfEntry(on, found.entry.adminDir);
      if (why === null) sweepAway(sweep, path, () => discardTree(engine.git, engine.fs, at));
      else sweep.kept.push({ path, why });
      return;
    }
    if (found.entry !== null) claimed.add(found.entry.adminDir);
    const order = firstSafe(on, tree, at);
    if (typeof order === "string") sweep.kept.push({ path, why: order });
    else sweepAway(sweep, path, () => remove(on, tree, order));
  } catch (error) {
    sweep.kept.push({ path, why: whyFailed(error) });
  }
}

type Order = TreeAt & { readonly keptRef?: string };

/** Under which ref all of it is kept, or nothing but its own clean HEAD; else why not, in fixed words. */
function firstSafe(on: TreeSweep, tree: Tree, at: TreeAt): Order | string {
  const recorded = tree.ref === null || !on.keptRefs.includes(tree.ref) ? [] : [tree.ref];
  const others = on.keptRefs.filter((ref) => ref !== tree.ref && ref.endsWith("/worktree"));
  let why = "";
  for (const keptRef of [undefined, ...recorded, ...others]) {
    const order = keptRef === undefined ? at : { ...at, keptRef };
    const answer = wouldRemove(on, order);
    if (answer === null) return order;
    if (keptRef === undefined) why = answer;
  }
  return why;
}

/** The judgement of `removeTree` itself, stopped before its first change; null: it would remove. */
function wouldRemove(on: TreeSweep, order: Order): string | null {
  const { git, snapshots } = on.looking.at(on.commonDir, on.sweep.gone);
  try {
    const answer = removeTree(git, readOnly(on.engine.fs), snapshots, order);
    // What stands behind a colon are names and reasons from files.
    return answer.removed ? null : (answer.why.split(": ")[0] ?? "left");
  } catch (error) {
    if (error instanceof Untouched) return null;
    throw error;
  }
}

/** First renamed, so that whoever still writes by its old path writes into nothing of ours. */
function remove(on: TreeSweep, tree: Tree, order: Order): void {
  const { engine, looking, commonDir, sweep } = on;
  const { snapshots } = looking.at(commonDir, sweep.gone);
  let { path } = order;
  if (!tree.foreign) {
    const target = join(order.path, "..", `e${on.loaded.state.head.epoch}-${tree.name}`);
    const from = path === target ? join(order.path, "..", tree.name) : path;
    if (moveTree(engine.git, engine.fs, { path: from, commonDir }, target).ok) path = target;
  }
  const removed = removeTree(engine.git, engine.fs, snapshots, { ...order, path });
  if (!removed.removed)
    throw new EnvironmentFailure("tree.changed", "it changed while it was looked at", "atlas clean");
}

/** Git lists a tree whose folder is gone: its HEAD or its index may be all that holds some work. */
function lossOfEntry(on: TreeSweep, adminDir: string): string | null {
  const { git, snapshots } = on.looking.at(on.commonDir, on.sweep.gone);
  const head = headOf(git, adminDir);
  if (head === null) return null;
  if (!reaching(git, on.commonDir, head).some((ref) => !on.sweep.gone.has(ref))) {
    return "its commits are not reachable from another ref";
  }
  const staged = stagedTree(git, snapshots, adminDir, on.commonDir);
  return staged === null || staged === snapshots.treeOf(head) ? null : "it holds staged content that is not kept";
}

/** A tree still being made was never handed to anybody. */
function sweepHalfMade(on: TreeSweep, at: TreeAt): void {
  const { engine, sweep } = on;
  const found = inspectTree(engine.git, engine.fs, at);
  if (found.is === "absent" && found.entry === null) return;
  if (found.is === "foreign" || found.is === "locked" || found.is === "not-a-worktree") {
    sweep.kept.push({ path: at.path, why: `tree.${found.is}` });
  } else sweepAway(sweep, at.path, () => discardTree(engine.git, engine.fs, at));
}
