/** The effects a change run owes: begun, or to be begun before it can go on. */
import { owedTrees } from "../../parts/tree.ts";
import { type ChangeEffect, type ChangeState, effectKey, wantedCommand } from "./state.ts";

/** In order: what is begun, trees to keep and remove, the base, the tree to make. */
export function owedOfChange(state: ChangeState): readonly ChangeEffect[] {
  const { phase } = state;
  const command = commandOf(state);
  if (command !== null && state.effect?.key === effectKey(command)) return [command];
  const { delivery } = state;
  if (delivery !== null && !delivery.done) return [{ effect: "deliver", choice: delivery.choice }];
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
  const { effect } = state;
  // A begun command ends by its result or its loss, a short effect by whoever takes it over: nothing begins beside it.
  if (effect !== null && (effect.key !== key || effect.ticket !== undefined)) return false;
  const command = commandOf(state);
  return (
    (command !== null && key === effectKey(command)) || owedOfChange(state).some((effect) => effectKey(effect) === key)
  );
}

/** The command the pass waits for; null: all of them have ended, or there is none. */
export function commandOf(state: ChangeState): Extract<ChangeEffect, { effect: "run-command" }> | null {
  const of = wantedCommand(state);
  return state.phase.at !== "verify" || of === null ? null : { effect: "run-command", pass: state.phase.pass, of };
}

/** In the user's own tree only what the run changes may be judged, so the files already dirty belong to the base. */
function baseFrom(state: ChangeState): "tree" | "baseline" {
  return state.isolated || state.head.origin !== "atlas" ? "baseline" : "tree";
}
