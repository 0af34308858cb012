/**
 * The fold of a change run. Where it may go stands in `transitions.ts`; events that concern a part (gas, leases,
 * gates, trees, effects) are folded by that part.
 */
import { applyHead } from "../../core/head.ts";
import type { ChangeStage } from "../../core/stage-names.ts";
import { applyEffect } from "../../parts/effect.ts";
import { applyGas } from "../../parts/gas.ts";
import { applyGate, withoutQuestion } from "../../parts/gate.ts";
import { applyLease, orphanLeases } from "../../parts/lease.ts";
import type { Pass } from "../../parts/passes.ts";
import { applyTree } from "../../parts/tree.ts";
import type { ChangeEvent } from "./events.ts";
import { isProduct, isProductLost, isWritten, PRODUCT } from "./product.ts";
import { type ChangeState, filledKey, measureSlot } from "./state.ts";
import { nextPhase } from "./transitions.ts";

type EventOf<T extends ChangeEvent["type"]> = Extract<ChangeEvent, { type: T }>;
type Mark = { readonly sum: string; readonly ts: string };

/** Folds one event; `mark` is the line it stands in. */
export function applyChange(state: ChangeState, event: ChangeEvent, mark: Mark): ChangeState {
  const head = applyHead(state.head, event, mark);
  const phase = nextPhase(state, event);
  return fold({ ...state, head, phase }, event);
}

/** Everything but the phase and the head. */
function fold(state: ChangeState, event: ChangeEvent): ChangeState {
  switch (event.type) {
    case "born":
      return { ...state, form: event.form, isolated: event.form === "headless" };
    case "claimed":
      return { ...state, leases: orphanLeases(state.leases, event.carried) };
    case "released":
    case "abandoned":
      return state;
    case "forked":
      return {
        ...state,
        leases: orphanLeases(state.leases, []),
        trees: { all: [] },
        setUp: [],
        delivery: null,
        effect: null,
        // Asked again under a nonce of its own: a word said to the parent answers nothing here.
        gates: state.phase.at === "ended" ? state.gates : withoutQuestion(state.gates),
      };
    case "gas-granted":
      return { ...state, gas: applyGas(state.gas, event) };
    case "leased":
      return { ...state, gas: applyGas(state.gas, event), leases: applyLease(state.leases, event) };
    case "lease-started":
    case "lease-ended":
      return { ...state, leases: applyLease(state.leases, event) };
    case "asked":
    case "answered":
      return { ...state, gates: applyGate(state.gates, event), command: commandAfter(state, event) };
    case "tree-kept": {
      const trees = applyTree(state.trees, event);
      const product = isProduct(state, event.name) && event.tree !== undefined;
      return product ? { ...state, trees, checkpoint: event.tree } : { ...state, trees };
    }
    case "tree-left": {
      const trees = applyTree(state.trees, event);
      // Without the product there is nothing to go on from apart from the user's tree.
      const lost = isProduct(state, event.name) && isProductLost({ ...state, trees });
      return { ...state, trees, isolated: lost ? state.form === "headless" : state.isolated };
    }
    case "tree-wanted":
    case "tree-ready":
    case "tree-staled":
    case "tree-removed":
      return { ...state, trees: applyTree(state.trees, event) };
    case "effect-began":
    case "effect-ended":
      return { ...state, effect: applyEffect(state.effect, event) };
    case "opened": {
      const { packet, missing, assumed, hasCommand, hasSetup = false, baseline } = event;
      return { ...state, packet, missing, assumed, hasCommand, hasSetup, baseline };
    }
    case "adopted": {
      const { packet, hasCommand, baseline, losses, stages, stage } = event;
      const isolated = state.isolated || (event.trees.includes(PRODUCT) && isWritten(stage));
      const adopted = { packet, hasCommand, baseline, losses, stages, stage, isolated, refinePasses: event.pass };
      const { hasSetup = false, assumed = [] } = event;
      return { ...state, ...adopted, hasSetup, assumed, vouched: event.listedCommand === true };
    }
    case "packet-set": {
      const { packet, hasCommand, hasSetup = state.hasSetup, baseline } = event;
      const assumed = [...state.assumed, ...event.assumed];
      const vouched = event.listedCommand ?? state.vouched;
      const known = { packet, hasCommand, hasSetup, baseline: baseline ?? state.baseline };
      return { ...state, ...known, assumed, vouched, missing: [] };
    }
    case "stage":
      return foldStage(state, event.stage);
    case "filled": {
      const { slot, pass, sha256, bytes, via, tree } = event;
      const filled = { sha256, bytes, via, ...(tree === undefined ? {} : { tree }) };
      return {
        ...state,
        filled: { ...state.filled, [filledKey(slot, pass)]: filled },
        checkpoint: tree ?? state.checkpoint,
        rolledBack: tree === undefined ? state.rolledBack : false,
      };
    }
    case "degraded":
      return { ...state, degraded: [...state.degraded, `${event.slot}.${event.pass}`] };
    case "based":
      return { ...state, base: event.tree, checkpoint: state.checkpoint ?? event.tree };
    case "measured": {
      const { phase } = state;
      const tree = event.of === "setup" && "tree" in phase ? phase.tree : null;
      const setUp = tree === null ? state.setUp : [...state.setUp, tree];
      return withArtifact({ ...state, setUp }, measureSlot(event.of), event.pass, event.sha256);
    }
    case "evidence":
      return withArtifact(state, "evidence", event.pass, event.sha256);
    case "judged": {
      const { pass, label, refine, reasons, blocking } = event;
      return { ...state, judgements: [...state.judgements, { pass, label, refine, reasons, blocking }] };
    }
    case "labelled":
      return { ...state, label: event.label, reasons: event.reasons };
    case "delivery-wanted":
      return { ...state, delivery: { choice: event.choice, done: false, written: 0, left: 0 } };
    case "delivered": {
      const { choice, written, left } = event;
      return { ...state, delivery: { choice, done: true, written, left } };
    }
    case "rolled-back":
      return { ...state, checkpoint: event.tree, rolledBack: true, gates: withoutQuestion(state.gates) };
    case "prepared":
    case "command-lost":
    case "ended":
      return state;
  }
}

function foldStage(state: ChangeState, stage: ChangeStage): ChangeState {
  const undone: readonly ChangeStage[] = stage === "REFINE" ? ["CODED", "VERIFIED"] : [];
  const stages = state.stages.filter((name) => name !== stage && !undone.includes(name));
  return {
    ...state,
    stage,
    stages: [...stages, stage],
    rolledBack: stage === "CODED" ? false : state.rolledBack,
    refinePasses: state.refinePasses + (stage === "REFINE" ? 1 : 0),
  };
}

function withArtifact(state: ChangeState, slot: string, pass: Pass, sha256: string): ChangeState {
  const filled = { sha256, bytes: 0, via: "root" as const };
  return { ...state, filled: { ...state.filled, [filledKey(slot, pass)]: filled } };
}

function commandAfter(state: ChangeState, event: EventOf<"asked"> | EventOf<"answered">): ChangeState["command"] {
  if (event.type !== "answered" || event.gate !== "approve-command") return state.command;
  return event.choice === "approve" ? "approved" : "rejected";
}
