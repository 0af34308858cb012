/**
 * A run's own tree after the power went. Its files are not synced when they are written, because they can be made
 * again from a tree id; so whoever takes the run over compares. What stands there instead is kept under a ref first.
 *
 * What a failure leaves behind: as `replace-tree.ts`.
 */
import { EnvironmentFailure } from "../core/result.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { liveLease } from "../parts/lease.ts";
import { inspectTree } from "../platform/worktree.ts";
import { makeTree } from "../platform/worktree-make.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf, standOn, treePath } from "./effects.ts";
import type { Loaded } from "./ledger.ts";
import { takeTreeAway } from "./replace-tree.ts";

/**
 * The tree the run stands on, put back to its checkpoint if it is another epoch's and nobody works there; what was
 * done in words, null where there was nothing to do.
 */
export function mendTornTree(engine: Engine, loaded: Loaded<ChangeState>): string | null {
  const { state, folder } = loaded;
  const { phase, checkpoint, head } = state;
  const name = "tree" in phase ? phase.tree : null;
  if (name === null || checkpoint === null || head.commonDir === null || state.effect !== null) return null;
  // Made in this epoch: its maker's machine has not gone down since.
  if (name.startsWith(`e${head.epoch}.`) || liveLease(state.leases, "coder") !== undefined) return null;
  if (!state.trees.all.some((tree) => tree.name === name && tree.status === "ready" && !tree.foreign)) return null;
  const snapshots = snapshotsOf(engine, loaded);
  const at = { path: treePath(folder, name), commonDir: head.commonDir };
  const found = inspectTree(engine.git, engine.fs, at);
  if (found.is !== "ours" && found.is !== "absent") return null;
  if (found.is === "ours" && snapshots.take(at.path).tree === checkpoint) return null;
  const order = { ...at, base: standOn(loaded, snapshots), tree: checkpoint };
  const ref = found.is === "ours" ? takeTreeAway(engine, loaded, snapshots, order, name) : "";
  if (ref === null) return null;
  const made = makeTree(engine.git, engine.fs, snapshots, order);
  if (!made.ok) throw new EnvironmentFailure(made.error.code, made.error.reason, made.error.fix);
  return `mended ${name}${ref === "" ? "" : ` ${ref}`}`;
}
