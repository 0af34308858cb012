import { UNBORN } from "../../core/head.ts";
import type { RunKind } from "../../core/kind.ts";
import { NO_GAS } from "../../parts/gas.ts";
import { NO_GATES } from "../../parts/gate.ts";
import { NO_LEASES } from "../../parts/lease.ts";
import { NO_TREES } from "../../parts/tree.ts";
import { applyChange } from "./apply.ts";
import { type ChangeCommand, decideChange } from "./decide.ts";
import type { ChangeEvent } from "./events.ts";
import { nextOfChange } from "./next.ts";
import { owedOfChange } from "./owed.ts";
import { CHANGE_SHAPES } from "./shapes.ts";
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
    hasSetup: false,
    setUp: [],
    vouched: true,
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
    delivery: null,
    gas: NO_GAS,
    leases: NO_LEASES,
    gates: NO_GATES,
    trees: NO_TREES,
    effect: null,
  }),
  shapes: CHANGE_SHAPES,
  apply: applyChange,
  decide: decideChange,
  owed: owedOfChange,
  next: nextOfChange,
};
