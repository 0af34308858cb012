import { type ChangeState, filledKey, passOf } from "../kinds/change/state.ts";
import type { Pass } from "../parts/passes.ts";
import type { Engine } from "./context.ts";
import { readEvidence } from "./judge.ts";
import type { Loaded } from "./ledger.ts";

export interface ResultTrees {
  readonly base: string;
  /** After the coder: the result. */
  readonly coded: string;
  /** After the build that judged it. */
  readonly built: string;
}

/** The trees of the last pass that left something; null: the run has no result. */
export function resultTrees(engine: Engine, loaded: Loaded<ChangeState>): ResultTrees | null {
  const { state } = loaded;
  const { base, checkpoint } = state;
  if (base === null || checkpoint === null || checkpoint === base) return null;
  const evidence = readEvidence(engine, loaded, lastJudged(state));
  const isOfResult = evidence !== null && evidence.tree.coded === checkpoint;
  return { base, coded: checkpoint, built: isOfResult ? evidence.tree.built : checkpoint };
}

/** A run that has ended no longer says its pass. */
export function lastJudged(state: ChangeState): Pass {
  const passes: readonly Pass[] = [2, 1, 0];
  return passes.find((pass) => filledKey("evidence", pass) in state.filled) ?? passOf(state);
}
