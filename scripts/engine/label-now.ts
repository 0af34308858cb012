/**
 * The label at the time it is printed: recomputed from what lies on disk now. A green one is withdrawn where its
 * evidence no longer says so, where the tree that was verified has changed since, or where the ledger is not the one that
 * was seen to be written.
 */
import { EnvironmentFailure } from "../core/result.ts";
import type { ChangeState, Label } from "../kinds/change/state.ts";
import { changesBetween } from "../platform/changes.ts";
import { entryKind } from "../platform/files.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf, workRoot } from "./effects.ts";
import { verdictOf } from "./judge.ts";
import type { Loaded } from "./ledger.ts";
import { lastJudged, resultTrees } from "./result-trees.ts";
import { witnessSays } from "./witness.ts";

export interface LabelNow {
  readonly label: Label | null;
  readonly reasons: readonly string[];
}

/** What the ledger says, or UNVERIFIED with `witness.differs | evidence.changed | tree.changed`. Red never turns green. */
export function labelNow(engine: Engine, loaded: Loaded<ChangeState>): LabelNow {
  const { label, reasons } = loaded.state;
  if (label !== "VERIFIED") return { label, reasons };
  const why = withdrawn(engine, loaded);
  return why === null ? { label, reasons } : { label: "UNVERIFIED", reasons: [why, ...reasons] };
}

function withdrawn(
  engine: Engine,
  loaded: Loaded<ChangeState>,
): "witness.differs" | "evidence.changed" | "tree.changed" | null {
  if (witnessSays(engine, loaded) === "differs") return "witness.differs";
  try {
    if (verdictOf(engine, loaded, lastJudged(loaded.state)).label !== "VERIFIED") return "evidence.changed";
  } catch (error) {
    if (error instanceof EnvironmentFailure && error.code === "artifact.changed") return "evidence.changed";
    throw error;
  }
  // Once the human has chosen, the tree is theirs again.
  if (loaded.state.delivery !== null) return null;
  return isAsJudged(engine, loaded) ? null : "tree.changed";
}

/** Each path of the tree equals what was coded or what the build left of it. A tree that was cleaned away is kept by a ref. */
function isAsJudged(engine: Engine, loaded: Loaded<ChangeState>): boolean {
  const trees = resultTrees(engine, loaded);
  if (trees === null) return false;
  const root = workRoot(loaded, treeOf(loaded.state));
  if (entryKind(engine.fs, root) === "absent") return true;
  const snapshots = snapshotsOf(engine, loaded);
  const now = snapshots.take(root).tree;
  const offCoded = new Set(changesBetween(snapshots, trees.coded, now).map(({ path }) => path));
  return changesBetween(snapshots, trees.built, now).every(({ path }) => !offCoded.has(path));
}

/** A headless run has ended and holds no tree any more: its last one is where it worked. */
function treeOf(state: ChangeState): string | null {
  const { phase } = state;
  if ("tree" in phase) return phase.tree;
  return state.trees.all.findLast((tree) => tree.status === "ready")?.name ?? null;
}
