import { UNBORN } from "../../core/head.ts";
import type { RunKind } from "../../core/kind.ts";
import { NO_GAS } from "../../parts/gas.ts";
import { NO_GATES } from "../../parts/gate.ts";
import { NO_LEASES } from "../../parts/lease.ts";
import { NO_TREES, owedTrees } from "../../parts/tree.ts";
import { applyChange } from "./apply.ts";
import { type ChangeCommand, decideChange } from "./decide.ts";
import type { ChangeEvent } from "./events.ts";
import { nextOfChange } from "./next.ts";
import type { ChangeEffect, ChangeState } from "./state.ts";

/** One request becomes one verified, human-gated change. */
export const change: RunKind<ChangeState, ChangeCommand, ChangeEvent, ChangeEffect> = {
  name: "change",
  version: 1,
  initial: () => ({
    head: UNBORN,
    phase: { at: "unborn" },
    form: "interactive",
    isolated: false,
    stages: [],
    stage: null,
    refinePasses: 0,
    packet: null,
    missing: [],
    assumed: [],
    losses: [],
    hasCommand: false,
    command: "undecided",
    baseline: null,
    base: null,
    checkpoint: null,
    filled: {},
    degraded: [],
    judgements: [],
    rolledBack: false,
    label: null,
    reasons: [],
    gas: NO_GAS,
    leases: NO_LEASES,
    gates: NO_GATES,
    trees: NO_TREES,
    effect: null,
  }),
  apply: applyChange,
  decide: decideChange,
  owed: owedOfChange,
  next: nextOfChange,
};

/** In order: what is begun, trees to keep and remove, the base, the tree to make. */
function owedOfChange(state: ChangeState): readonly ChangeEffect[] {
  const { phase } = state;
  if (phase.at === "verify" && state.effect?.key === `run-command:${phase.pass}`) {
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

/** In the user's own tree only what the run changes may be judged, so the files already dirty belong to the base. */
function baseFrom(state: ChangeState): "tree" | "baseline" {
  return state.isolated || state.head.origin !== "atlas" ? "baseline" : "tree";
}
