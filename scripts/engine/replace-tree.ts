/**
 * A run's own tree written anew where something else stands: that is kept under a ref first.
 *
 * What a failure leaves behind: the kept ref, or a tree made in part; the next call goes on with it.
 */
import type { Result } from "../core/result.ts";
import { keepTree, refSegment } from "../platform/keep.ts";
import type { Snapshots } from "../platform/snapshot.ts";
import { type MadeTree, makeTree, type TreeOrder } from "../platform/worktree-make.ts";
import { removeTree } from "../platform/worktree-remove.ts";
import type { Engine } from "./context.ts";
import type { Loaded } from "./ledger.ts";

/** As `makeTree`; of content that nobody was told of yet, whatever differs is kept under a ref and written anew. */
export function makeTreeAnew(
  engine: Engine,
  loaded: Loaded,
  snapshots: Snapshots,
  order: TreeOrder,
  name: string,
): Result<MadeTree> {
  const made = makeTree(engine.git, engine.fs, snapshots, order);
  if (made.ok || made.error.code !== "tree.differs") return made;
  return takeTreeAway(engine, loaded, snapshots, order, name) === null
    ? made
    : makeTree(engine.git, engine.fs, snapshots, order);
}

/** Keeps and removes what stands there; the ref, or null where it has to stay. */
export function takeTreeAway(
  engine: Engine,
  loaded: Loaded,
  snapshots: Snapshots,
  { path, commonDir }: TreeOrder,
  name: string,
): string | null {
  const { git, fs } = engine;
  const slug = `${name.replace(/[^A-Za-z0-9-]/g, "-")}-torn`;
  const refPrefix = `refs/atlas/${refSegment(git, loaded.folder.id)}/e${loaded.state.head.epoch}/kept/${slug}`;
  const kept = keepTree(git, fs, snapshots, { path, commonDir, refPrefix, performerGone: true });
  if (!kept.ok) return null;
  const { ref } = kept.value.worktree;
  return removeTree(git, fs, snapshots, { path, commonDir, keptRef: ref }).removed ? ref : null;
}
