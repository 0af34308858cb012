/**
 * The graph run, as far as this release goes: it is adopted, its frontier is re-derived and it is listed. Draining it
 * comes with the kind's own machine; until then `next` says so and hands nothing out.
 */
import { applyHead, type Head, type HeadEvent, UNBORN } from "../../core/head.ts";
import type { RunKind } from "../../core/kind.ts";
import { IllegalEvent, ok } from "../../core/result.ts";
import type { ShapesOf } from "../../core/shape.ts";
import { WEAVE_STAGES, type WeaveStage } from "../../core/stage-names.ts";
import { applyEffect, type BeginCommand, type BegunEffect, beganEvent, type EffectEvent } from "../../parts/effect.ts";
import { EFFECT_SHAPES, HEAD_SHAPES, TREE_SHAPES } from "../../parts/shapes.ts";
import {
  applyTree,
  NO_TREES,
  owedTrees,
  type TreeEffect,
  type TreeEvent,
  type TreeOutcome,
  type Trees,
  treeEffectKey,
  treeEnd,
} from "../../parts/tree.ts";

export type WeaveEvent =
  | HeadEvent
  | TreeEvent
  | EffectEvent
  | {
      readonly type: "graph-adopted";
      readonly stage: WeaveStage | "unknown";
      /** sha-256 of the DAG after the reset, an artifact. */
      readonly dag: string;
      readonly foreign: string;
      readonly losses: readonly string[];
    }
  | { readonly type: "ended"; readonly status: "unverified" | "abandoned" };

/** What is not here is an event of a newer atlas. */
const weaveShapes: ShapesOf<WeaveEvent> = {
  ...HEAD_SHAPES,
  ...TREE_SHAPES,
  ...EFFECT_SHAPES,
  "graph-adopted": { stage: [...WEAVE_STAGES, "unknown"], dag: "hash", foreign: "text", losses: "texts" },
  ended: { status: ["unverified", "abandoned"] },
};

export interface WeaveState {
  readonly head: Head;
  readonly stage: WeaveStage | "unknown" | null;
  readonly dag: string | null;
  readonly losses: readonly string[];
  readonly ended: "unverified" | "abandoned" | null;
  readonly trees: Trees;
  readonly effect: BegunEffect | null;
}

export type WeaveCommand =
  | { readonly do: "settle" }
  | BeginCommand
  | { readonly do: "finish"; readonly effect: TreeEffect; readonly outcome: TreeOutcome };

export const weave: RunKind<WeaveState, WeaveCommand, WeaveEvent, TreeEffect> = {
  name: "weave",
  version: 1,
  initial: () => ({
    head: UNBORN,
    stage: null,
    dag: null,
    losses: [],
    ended: null,
    trees: NO_TREES,
    effect: null,
  }),
  shapes: weaveShapes,
  apply(before, event, mark) {
    const state = { ...before, head: applyHead(before.head, event, mark) };
    switch (event.type) {
      case "graph-adopted":
        if (before.dag !== null) throw new IllegalEvent("adopted", event.type);
        return { ...state, stage: event.stage, dag: event.dag, losses: event.losses };
      case "abandoned":
        return { ...state, ended: "abandoned" };
      case "ended":
        return { ...state, ended: event.status };
      case "tree-wanted":
      case "tree-ready":
      case "tree-staled":
      case "tree-kept":
      case "tree-removed":
      case "tree-left":
        return { ...state, trees: applyTree(state.trees, event) };
      case "effect-began":
      case "effect-ended":
        return { ...state, effect: applyEffect(state.effect, event) };
      case "forked":
        return { ...state, trees: NO_TREES, effect: null };
      case "born":
      case "claimed":
      case "released":
        return state;
      default:
        throw new IllegalEvent("weave", (event as { type: string }).type);
    }
  },
  decide(state, command) {
    // Another command of ours may have come first: then there is nothing to begin or to finish any more.
    if (command.do === "begin") {
      const isOwed = owedTrees(state.trees).some((effect) => treeEffectKey(effect) === command.key);
      return ok(isOwed ? [beganEvent(command, state.head.epoch)] : null);
    }
    if (command.do !== "finish" || state.effect?.key !== treeEffectKey(command.effect)) return ok(null);
    return ok(treeEnd(command.effect, command.outcome));
  },
  owed: (state) => (state.ended === null ? owedTrees(state.trees) : []),
  next: (state) =>
    state.ended === null ? { step: "nothing", why: "weave.not-yet" } : { step: "report", status: state.ended },
};
