/**
 * Performing owed effects of trees. Each is begun by a line that names its performer, probed, performed, and ended by
 * a line; a crash anywhere leaves it owed, and performing it again does only what is not done yet.
 */
import { join } from "node:path";
import { EnvironmentFailure } from "../core/result.ts";
import type { EffectOutcome } from "../kinds/change/decide.ts";
import { change } from "../kinds/change/kind.ts";
import { isProduct, PRODUCT } from "../kinds/change/product.ts";
import type { ChangeEffect, ChangeState } from "../kinds/change/state.ts";
import { listFolder } from "../platform/files.ts";
import { type Git, lineOrNull } from "../platform/git.ts";
import { keepTree, refSegment } from "../platform/keep.ts";
import { openSnapshots, type Snapshots } from "../platform/snapshot.ts";
import { inspectTree } from "../platform/worktree.ts";
import { moveTree } from "../platform/worktree-make.ts";
import { removeTree } from "../platform/worktree-remove.ts";
import type { Engine } from "./context.ts";
import type { AnyState } from "./kinds.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { makeTreeAnew } from "./replace-tree.ts";

/** What performing needs of a state that has trees of its own. */
export interface TreeState extends AnyState {
  readonly baseline?: string | null;
  readonly base?: string | null;
}

export function snapshotsOf(engine: Engine, loaded: Loaded): Snapshots {
  return openSnapshots(engine.git, engine.fs, loaded.folder.ledger, loaded.state.head.commonDir);
}

/** Absolute path of a tree of the run; a foreign one lies below the original's folder. */
export function treePath(folder: RunFolder, name: string, foreign = false): string {
  return foreign ? join(folder.atlas, folder.id, name) : join(folder.ledger, "worktree", name);
}

/** Where the work is done: the run's own tree, or the user's. */
export function workRoot(loaded: Loaded, tree: string | null): string {
  return tree === null ? userTree(loaded) : treePath(loaded.folder, tree);
}

/** The working tree the user sat in when the run began; a moved folder is found by where its ledger lies now. */
export function userTree(loaded: Loaded): string {
  return loaded.state.head.top ?? loaded.folder.root;
}

/** Performs one short effect; throws EnvironmentFailure where the environment cannot carry it. */
export function perform(
  engine: Engine,
  loaded: Loaded<TreeState>,
  effect: Exclude<ChangeEffect, { effect: "run-command" | "deliver" }>,
): EffectOutcome {
  const { folder, state } = loaded;
  const { commonDir } = state.head;
  if (effect.effect === "take-base") return { of: "take-base", tree: baseTree(engine, loaded, effect.from) };
  if (commonDir === null && effect.effect !== "make-tree") return { of: "left", why: "tree.no_git" };
  if (commonDir === null) {
    throw new EnvironmentFailure(
      "tree.no_git",
      "an own working tree needs a git repository",
      `atlas abandon --run ${folder.id}`,
    );
  }
  if (effect.effect === "make-tree") {
    const path = treePath(folder, effect.name);
    const tree = effect.from === null ? {} : { tree: effect.from };
    const snapshots = snapshotsOf(engine, loaded);
    const order = { path, commonDir, base: standOn(loaded, snapshots), ...tree };
    const made = makeTreeAnew(engine, loaded, snapshots, order, effect.name);
    if (!made.ok) throw new EnvironmentFailure(made.error.code, made.error.reason, made.error.fix);
    return { of: "make-tree" };
  }
  return careFor(engine, loaded, effect, commonDir);
}

/** What a tree's HEAD stands on. An adopted run's baseline may be gone, or never have been: then on the base's files. */
export function standOn(loaded: Loaded<TreeState>, snapshots: Snapshots): string | null {
  const { baseline = null, base = null, head } = loaded.state;
  if (head.origin === "atlas" || (baseline !== null && snapshots.treeOf(baseline) !== null)) return baseline;
  return base;
}

/** Keeps or removes a tree that is given up. Whatever is not provably ours is left, and said. */
function careFor(
  engine: Engine,
  loaded: Loaded<TreeState>,
  effect: Extract<ChangeEffect, { effect: "keep-tree" | "remove-tree" }>,
  commonDir: string,
): EffectOutcome {
  const { folder, state } = loaded;
  const snapshots = snapshotsOf(engine, loaded);
  const { git, fs } = engine;
  const path = effect.foreign
    ? treePath(folder, effect.name, true)
    : underOurEpoch(engine, loaded, effect.name, commonDir);
  if (effect.effect === "remove-tree") {
    const removed = removeTree(git, fs, snapshots, { path, commonDir, keptRef: effect.ref });
    return removed.removed ? { of: "gone" } : { of: "left", why: bounded(removed.why) };
  }
  const found = inspectTree(git, fs, { path, commonDir });
  if (found.is === "absent") {
    const before = effect.foreign && isProductOf(state, effect.name) ? keptBefore(git, commonDir, folder.id) : null;
    const tree = before === null ? null : snapshots.treeOf(before.commit);
    return before === null || tree === null ? { of: "gone" } : { of: "keep-tree", ref: before.ref, tree, ignored: 0 };
  }
  // Reading changes nothing, so finished work is taken even from a tree that somebody locked; removing is refused.
  const readable = found.is === "ours" || (found.is === "locked" && effect.foreign && isProductOf(state, effect.name));
  if (!readable) return { of: "left", why: `tree.${found.is}` };
  if (effect.foreign && !isOfDeadTurn(git, path, folder.id)) return { of: "left", why: "tree.other_branch" };
  const slug = effect.name.replace(/[^A-Za-z0-9-]/g, "-");
  const refPrefix = `refs/atlas/${refSegment(git, folder.id)}/e${state.head.epoch}/kept/${slug}`;
  const kept = keepTree(git, fs, snapshots, { path, commonDir, refPrefix, performerGone: true });
  if (!kept.ok) return { of: "left", why: kept.error.code };
  return { of: "keep-tree", ref: kept.value.worktree.ref, tree: kept.value.tree, ignored: kept.value.ignoredCount };
}

/** Finished work of the original that an earlier adoption of the same run has kept already, and removed. */
export function keptBefore(
  git: Git,
  commonDir: string,
  id: string,
): { readonly ref: string; readonly commit: string } | null {
  const kept = `refs/atlas/${refSegment(git, id)}/*/kept/${PRODUCT}*/worktree`;
  const list = ["for-each-ref", "--count=1", "--sort=-version:refname", "--format=%(objectname) %(refname)", kept];
  const [commit, ref] = (lineOrNull(git, list, { cwd: commonDir, env: { GIT_DIR: commonDir } }) ?? "").split(" ");
  return commit === undefined || ref === undefined ? null : { ref, commit };
}

function isProductOf(state: TreeState, name: string): boolean {
  return state.head.kind === change.name && isProduct(state as ChangeState, name);
}

/** The original works on a branch `atlas/<id>…` or detached; a tree on any other branch is the user's. */
function isOfDeadTurn(git: Git, path: string, id: string): boolean {
  const on = git.run(["symbolic-ref", "--quiet", "HEAD"], { cwd: path });
  if (on.code === 1) return true;
  return on.code === 0 && on.stdout.toString("utf8").startsWith(`refs/heads/atlas/${id}`);
}

/**
 * A tree of another epoch is first moved under a name of ours: whoever still writes by its old path writes into
 * nothing we keep, and two owners can never remove one path.
 */
function underOurEpoch(engine: Engine, loaded: Loaded<TreeState>, name: string, commonDir: string): string {
  const { folder, state } = loaded;
  const trees = join(folder.ledger, "worktree");
  const ours = `e${state.head.epoch}-${name}`;
  const present = listFolder(engine.fs, trees).filter((entry) => entry === name || entry.endsWith(`-${name}`));
  const target = join(trees, ours);
  const [from] = present.filter((entry) => entry !== ours);
  if (from === undefined || present.includes(ours)) return target;
  const moved = moveTree(engine.git, engine.fs, { path: join(trees, from), commonDir }, target);
  return moved.ok ? target : join(trees, from);
}

function bounded(why: string): string {
  return why.slice(0, 200);
}

/** The base: the user's tree as it is now, or the baseline's own files where the run works apart from it. */
function baseTree(engine: Engine, loaded: Loaded<TreeState>, from: "tree" | "baseline"): string {
  const snapshots = snapshotsOf(engine, loaded);
  const { baseline } = loaded.state;
  if (from === "baseline" && baseline != null) {
    const tree = snapshots.treeOf(baseline);
    if (tree !== null) return tree;
    // An adopted run's baseline may be a commit that is gone; outside git there never was one.
    if (loaded.state.head.origin === "atlas") {
      throw new EnvironmentFailure(
        "baseline.gone",
        "the commit the run began from is gone",
        `atlas abandon --run ${loaded.folder.id}`,
      );
    }
  }
  return snapshots.take(userTree(loaded)).tree;
}
