/** The work an adopted run had finished when its turn died: it lies in the tree of the original, and is carried on. */
import type { ChangeStage } from "../../core/stage-names.ts";
import type { ChangeState } from "./state.ts";

/** Where the original's isolated runs work, below their folder. */
export const PRODUCT = "worktree";

/** The writing slot is recorded done. */
export function isWritten(stage: ChangeStage | null): boolean {
  return stage === "CODED" || stage === "VERIFIED";
}

/** Whether this tree of the original holds the run's finished work; at any other stage it is a leftover. */
export function isProduct(state: Pick<ChangeState, "stage" | "filled" | "trees">, name: string): boolean {
  const coded = Object.keys(state.filled).some((key) => key.startsWith("coder."));
  const foreign = state.trees.all.some((tree) => tree.foreign && tree.name === name);
  return foreign && name === PRODUCT && isWritten(state.stage) && !coded;
}

/** The finished work lies where it may not be touched (not registered with git, another branch, a link). */
export function isProductLost(state: Pick<ChangeState, "stage" | "filled" | "trees">): boolean {
  const lost = state.trees.all.some((tree) => tree.name === PRODUCT && tree.status === "left" && tree.ref === null);
  return lost && isProduct(state, PRODUCT);
}
