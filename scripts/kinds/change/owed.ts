/** The effects a change run owes: begun, or to be begun before it can go on. */
import { owedTrees } from "../../parts/tree.ts";
import { type ChangeEffect, type ChangeState, effectKey } from "./state.ts";

/** In order: what is begun, trees to keep and remove, the base, the tree to make. */
export function owedOfChange(state: ChangeState): readonly ChangeEffect[] {
  const { phase } = state;
  if (phase.at === "verify" && state.effect?.key === effectKey({ effect: "run-command", pass: phase.pass })) {
    return [{ effect: "run-command", pass: phase.pass }];
  }
  const trees = owedTrees(state.trees);
  const base: readonly ChangeEffect[] =
    phase.at === "prepare" && state.base === null ? [{ effect: "take-base", from: baseFrom(state) }] : [];
  return [
    ...trees.filter((effect) => effect.effect !== "make-tree"),
    ...base,
    ...trees.filter((effect) => effect.effect === "make-tree"),
  ];
}

/** Whether an effect may begin on this fold: it is owed, or it is the command of a pass that waits for it. */
export function mayBegin(state: ChangeState, key: string): boolean {
  const { phase, effect } = state;
  // A begun command ends by its result or its loss, a short effect by whoever takes it over: nothing begins beside it.
  if (effect !== null && (effect.key !== key || effect.ticket !== undefined)) return false;
  const command = phase.at === "verify" ? effectKey({ effect: "run-command", pass: phase.pass }) : null;
  return key === command || owedOfChange(state).some((effect) => effectKey(effect) === key);
}

/** In the user's own tree only what the run changes may be judged, so the files already dirty belong to the base. */
function baseFrom(state: ChangeState): "tree" | "baseline" {
  return state.isolated || state.head.origin !== "atlas" ? "baseline" : "tree";
}
