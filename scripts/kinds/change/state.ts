/** What a change run is, as data. Each phase holds exactly what that phase has. */
import type { Head, InvocationForm } from "../../core/head.ts";
import type { ChangeStage } from "../../core/stage-names.ts";
import type { BegunEffect } from "../../parts/effect.ts";
import type { Gas } from "../../parts/gas.ts";
import type { Gates } from "../../parts/gate.ts";
import type { Leases } from "../../parts/lease.ts";
import type { Pass } from "../../parts/passes.ts";
import { type TreeEffect, type Trees, treeEffectKey } from "../../parts/tree.ts";
import type { CommandRole } from "../../verify/command-role.ts";

export type Lens = "correctness" | "code-quality" | "security";
export const LENSES: readonly Lens[] = ["correctness", "code-quality", "security"];

/** `missing`: both hand-outs ended badly. Blocking, never "fine by default". */
export type CriticStatus = "open" | "filled" | "missing";

/** Phases that stand on a tree. `tree`: the run's own by name; null: the user's own. */
export type Working =
  | { readonly at: "code"; readonly pass: Pass; readonly tree: string | null; readonly failures: number }
  | {
      readonly at: "verify";
      readonly pass: Pass;
      readonly tree: string | null;
      /** How often the command that is wanted now was lost. */
      readonly losses: number;
      /** Commands of this pass that have ended. */
      readonly done: readonly CommandRole[];
      /** Commands that what has ended asks for. */
      readonly more: readonly CommandRole[];
    }
  | {
      readonly at: "critique";
      readonly pass: Pass;
      readonly tree: string | null;
      readonly critics: Readonly<Record<Lens, CriticStatus>>;
      readonly failures: Readonly<Record<Lens, number>>;
    }
  | { readonly at: "judged"; readonly pass: Pass; readonly tree: string | null; readonly refine: boolean }
  | { readonly at: "output"; readonly pass: Pass; readonly tree: string | null };

export type Phase =
  | { readonly at: "unborn" }
  /** INIT is done; INTENT_CAPTURED is about to be recorded. */
  | { readonly at: "intake" }
  /** Adopted, and no file holds the packet any more: it must be handed in before anything else. */
  | { readonly at: "recover"; readonly stage: ChangeStage; readonly pass: Pass }
  | { readonly at: "clarify" }
  | { readonly at: "triage" }
  | { readonly at: "scout"; readonly failures: number }
  | { readonly at: "plan"; readonly adjusted: boolean }
  | { readonly at: "pre-code"; readonly adjusted: boolean }
  | { readonly at: "approve"; readonly then: "code" | "verify"; readonly pass: Pass }
  /** The base snapshot and, in an isolated run, a tree are owed; then the run goes on with `then`. */
  | { readonly at: "prepare"; readonly then: Working }
  | Working
  /** The human chose; what that does to the user's files is owed. */
  | { readonly at: "deliver"; readonly pass: Pass }
  | { readonly at: "ended"; readonly status: EndStatus; readonly choice: string | null };

export type EndStatus = "verified" | "unverified" | "abandoned";
export type Label = "VERIFIED" | "UNVERIFIED";

/** An artifact in the run's folder, named by hash. */
export interface Filled {
  readonly sha256: string;
  readonly bytes: number;
  /** `relayed`: the root wrote a file for an agent's slot and no hook saw the agent say it. */
  readonly via: "root" | "hook" | "relayed";
  /** Snapshot tree id recorded with a writing slot: a checkpoint. */
  readonly tree?: string;
}

export interface Judgement {
  readonly pass: Pass;
  readonly label: Label;
  readonly refine: boolean;
  readonly reasons: readonly string[];
  readonly blocking: number;
}

export interface ChangeState {
  readonly head: Head;
  readonly phase: Phase;
  readonly form: InvocationForm;
  /** Works in a tree of its own; never in the user's. */
  readonly isolated: boolean;
  readonly stages: readonly ChangeStage[];
  /** The stage completed last. */
  readonly stage: ChangeStage | null;
  /** Lines that completed REFINE. */
  readonly refinePasses: number;
  readonly packet: string | null;
  readonly missing: readonly string[];
  readonly assumed: readonly string[];
  readonly losses: readonly string[];
  readonly hasCommand: boolean;
  /** The packet names a command that makes a fresh tree ready. */
  readonly hasSetup: boolean;
  /** Own trees in which it has ended. */
  readonly setUp: readonly string[];
  /** The command is the caller's own or a listed one, so a headless run may execute it. */
  readonly vouched: boolean;
  readonly command: "undecided" | "approved" | "rejected";
  /** Commit (or bare tree) the run began from; null outside git and on an unborn branch. */
  readonly baseline: string | null;
  /** Snapshot tree id of the baseline, B. */
  readonly base: string | null;
  /** Snapshot tree id after the last accepted writing slot; the baseline is the first. */
  readonly checkpoint: string | null;
  /** By `<slot>.<pass>`. */
  readonly filled: Readonly<Record<string, Filled>>;
  readonly degraded: readonly string[];
  readonly judgements: readonly Judgement[];
  /** A human sent the tree back to a checkpoint: UNVERIFIED at best until it is coded anew. */
  readonly rolledBack: boolean;
  readonly label: Label | null;
  readonly reasons: readonly string[];
  /** What the human chose to happen to the user's files, and what came of it. */
  readonly delivery: Delivery | null;
  readonly gas: Gas;
  readonly leases: Leases;
  readonly gates: Gates;
  readonly trees: Trees;
  readonly effect: BegunEffect | null;
}

export type DeliveryChoice = "apply" | "discard";

export interface Delivery {
  readonly choice: DeliveryChoice;
  readonly done: boolean;
  /** Paths that were written or taken back. */
  readonly written: number;
  /** Paths that were left, because something else lies there. */
  readonly left: number;
}

export type ChangeEffect =
  | TreeEffect
  /** Snapshot of what the coder starts from: the working tree as it is, or the baseline's own files. */
  | { readonly effect: "take-base"; readonly from: "tree" | "baseline" }
  /** Writes the result into the user's tree, or takes it back out of it. */
  | { readonly effect: "deliver"; readonly choice: DeliveryChoice }
  /** A command of the packet, run by a detached performer. */
  | { readonly effect: "run-command"; readonly pass: Pass; readonly of: CommandRole };

export function effectKey(effect: ChangeEffect): string {
  if (effect.effect === "take-base") return "take-base";
  if (effect.effect === "deliver") return `deliver:${effect.choice}`;
  if (effect.effect !== "run-command") return treeEffectKey(effect);
  return effect.of === "verify" ? `run-command:${effect.pass}` : `run-command:${effect.pass}:${effect.of}`;
}

export function filledKey(slot: string, pass: Pass): string {
  return `${slot}.${pass}`;
}

/** The slot under which a command's own record lies. */
export function measureSlot(of: CommandRole): string {
  return `measure-${of}`;
}

/** The command a pass waits for; null: all that are wanted have ended. */
export function wantedCommand(state: ChangeState): CommandRole | null {
  const { phase } = state;
  if (phase.at !== "verify" || !state.hasCommand) return null;
  const { tree, done, more } = phase;
  if (state.hasSetup && tree !== null && !state.setUp.includes(tree) && !done.includes("setup")) return "setup";
  if (!done.includes("verify")) return "verify";
  return more[0] ?? null;
}

/** What was taken last for a slot, of whatever pass; null: nothing yet. */
export function lastFilled(state: ChangeState, slot: string): Filled | null {
  for (const pass of [2, 1, 0] as const) {
    const filled = state.filled[filledKey(slot, pass)];
    if (filled !== undefined) return filled;
  }
  return null;
}

/** The refine pass the run stands in. */
export function passOf(state: ChangeState): Pass {
  const { phase } = state;
  if (phase.at === "prepare") return phase.then.pass;
  return "pass" in phase ? phase.pass : 0;
}
