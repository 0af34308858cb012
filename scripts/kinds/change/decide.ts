/** What a change run says to a command: the events of one line, nothing, or a refusal. Pure. */

import type { Moment } from "../../core/kind.ts";
import { type NonEmpty, ok, type Refusal, type Result, refuse } from "../../core/result.ts";
import type { Room } from "../../parts/admission.ts";
import { type BeginCommand, beganEvent } from "../../parts/effect.ts";
import { type LeaseEnd, liveLease } from "../../parts/lease.ts";
import type { Pass } from "../../parts/passes.ts";
import { type TreeEffect, type TreeOutcome, treeEnd } from "../../parts/tree.ts";
import type { CommandRole } from "../../verify/command-role.ts";
import { type AnswerCommand, decideAnswer } from "./decide-answer.ts";
import { handOut } from "./decide-hand-out.ts";
import type { ChangeEvent } from "./events.ts";
import { outputEvents } from "./labels.ts";
import { wantedSlots } from "./next.ts";
import { mayBegin } from "./owed.ts";
import { decideSettle } from "./settle.ts";
import { type ChangeEffect, type ChangeState, effectKey, lastFilled, passOf, wantedCommand } from "./state.ts";

export type EffectOutcome =
  | TreeOutcome
  | { readonly of: "take-base"; readonly tree: string }
  | {
      readonly of: "run-command";
      readonly sha256: string;
      readonly ending: string;
      /** Commands that are wanted because of how this one ended. */
      readonly more: readonly CommandRole[];
    }
  | { readonly of: "deliver"; readonly written: number; readonly left: number }
  | { readonly of: "lost" };

export type ChangeCommand =
  | { readonly do: "settle" }
  /** `room`: what this machine has for agents now; absent: it is not looked at. */
  | { readonly do: "hand-out"; readonly room?: Room }
  | {
      readonly do: "submit";
      readonly slot: string;
      readonly sha256: string;
      readonly bytes: number;
      readonly via: "root" | "hook" | "relayed";
      /** The lease the artifact itself names, when it names one. */
      readonly lease: string | null;
      /** The lease that was out when the artifact was read and the tree looked at: for no other one is it taken. */
      readonly of?: string;
      /** Snapshot of the tree after a writing slot. */
      readonly tree?: string;
      /** For the slot `packet` of a recovered run. */
      readonly packet?: {
        readonly hasCommand: boolean;
        readonly hasSetup?: boolean;
        readonly listedCommand: boolean;
        readonly baseline: string | null;
      };
    }
  | {
      readonly do: "fail";
      readonly slot: string;
      readonly how: "timeout" | "error" | "refused";
      /** The agent is known to have stopped (a hook saw it). */
      readonly stopped: boolean;
      /** The lease that was seen to end badly: the one handed out after it is not meant. */
      readonly of?: string;
    }
  | { readonly do: "end-lease"; readonly lease: string; readonly why: "lost" | "redo" }
  | { readonly do: "started"; readonly lease: string }
  | AnswerCommand
  | BeginCommand
  | { readonly do: "rollback"; readonly to: number; readonly tree: string }
  | {
      readonly do: "finish";
      readonly effect: ChangeEffect;
      readonly outcome: EffectOutcome;
      /** Of the long command that was looked at: an ending of one attempt ends no later one. */
      readonly nonce?: string;
    }
  /** What was measured of the pass, composed once all its commands have ended. */
  | { readonly do: "evidence"; readonly pass: Pass; readonly sha256: string; readonly ending: string }
  | {
      readonly do: "judge";
      readonly pass: Pass;
      readonly label: "VERIFIED" | "UNVERIFIED";
      readonly refine: boolean;
      readonly reasons: readonly string[];
      readonly blocking: number;
    };

export type Decision = Result<NonEmpty<ChangeEvent> | null, Refusal>;

/** Bad endings of one slot and pass before it is given up. */
export const ATTEMPTS_MAX = 2;

export function decideChange(state: ChangeState, command: ChangeCommand, moment: Moment): Decision {
  switch (command.do) {
    case "settle":
      return ok(decideSettle(state, moment));
    case "hand-out":
      return handOut(state, moment, command.room ?? null);
    case "submit":
      return submit(state, command);
    case "fail":
      return fail(state, command);
    case "end-lease":
      return ok(endLease(state, command.lease, command.why));
    case "started": {
      const lease = state.leases.live.find((live) => live.lease === command.lease);
      return ok(lease === undefined || lease.started ? null : [{ type: "lease-started", lease: command.lease }]);
    }
    case "answer":
      return decideAnswer(state, command);
    case "rollback": {
      const { phase } = state;
      if (!("tree" in phase) || phase.tree === null) {
        return refuse(
          "rollback.not_now",
          "only a run that stands on a tree of its own can be rolled back",
          "atlas next",
        );
      }
      if (state.effect !== null) {
        return refuse("effect.running", `${state.effect.key} is begun and has not ended`, "atlas resume");
      }
      const stands = state.trees.all.some(({ name, status }) => name === phase.tree && status === "ready");
      return ok([
        { type: "rolled-back", to: command.to, tree: command.tree },
        // Of a coder that was given up it is stale already, and kept.
        ...(stands ? [{ type: "tree-staled", name: phase.tree } as const] : []),
        ...state.leases.live.map((lease): ChangeEvent => ({ type: "lease-ended", lease: lease.lease, why: "moot" })),
      ]);
    }
    case "begin":
      // Another command of ours may have come first: then there is nothing to begin, to finish or to judge any more.
      return ok(mayBegin(state, command.key) ? [beganEvent(command, state.head.epoch)] : null);
    case "finish": {
      const isMeant = command.nonce === undefined || command.nonce === state.effect?.ticket?.nonce;
      const isBegun = isMeant && state.effect?.key === effectKey(command.effect);
      return ok(isBegun ? finish(state, command.effect, command.outcome) : null);
    }
    case "evidence":
      return ok(recordEvidence(state, command));
    case "judge": {
      const { pass, label, refine, reasons, blocking } = command;
      if (!isJudgeable(state, pass)) return ok(null);
      return ok([
        { type: "judged", pass, label, refine, reasons, blocking },
        { type: "stage", stage: "VERIFIED" },
      ]);
    }
  }
}

/** A recording of an earlier atlas that was killed began an effect with no performer: it ends here. */
function recordEvidence(
  state: ChangeState,
  { pass, sha256, ending }: Extract<ChangeCommand, { do: "evidence" }>,
): NonEmpty<ChangeEvent> | null {
  const { phase, effect } = state;
  if (phase.at !== "verify" || phase.pass !== pass || wantedCommand(state) !== null) return null;
  if (effect?.ticket !== undefined) return null;
  const evidence: ChangeEvent = { type: "evidence", pass, sha256, ending };
  return effect === null ? [evidence] : [{ type: "effect-ended", key: effect.key, outcome: "lost" }, evidence];
}

/** Every critic's seat of the pass is decided. */
function isJudgeable({ phase }: ChangeState, pass: Pass): boolean {
  return phase.at === "critique" && phase.pass === pass && !Object.values(phase.critics).includes("open");
}

/** Leases for every slot that is wanted and not out. Charged here, before anything is printed. */
function submit(state: ChangeState, command: Extract<ChangeCommand, { do: "submit" }>): Decision {
  const { slot, sha256, bytes, via } = command;
  const pass = passOf(state);
  const wanted = wantedSlots(state).includes(slot);
  const before = wanted ? null : lastFilled(state, slot);
  if (before !== null) {
    if (before.sha256 === sha256) return ok(null);
    return refuse("slot.filled", `slot ${slot} was handed in already, with other bytes`, "atlas next");
  }
  if (!wanted) return refuse("slot.unexpected", `slot ${slot} is not what the run waits for`, "atlas next");
  if (state.gates.open !== null) {
    return refuse("gate.open", `gate ${state.gates.open.gate} must be answered first`, "atlas next");
  }
  const filled = (lease: string | null): ChangeEvent => ({
    type: "filled",
    slot,
    pass,
    sha256,
    bytes,
    via,
    lease,
    ...(command.tree === undefined ? {} : { tree: command.tree }),
  });
  if (state.phase.at === "recover" && command.packet !== undefined) {
    const { hasCommand, hasSetup = false, listedCommand, baseline } = command.packet;
    const set = { packet: sha256, assumed: [], hasCommand, listedCommand, baseline, ...(hasSetup ? { hasSetup } : {}) };
    return ok([filled(null), { type: "packet-set", ...set }]);
  }
  if (slot === "triage") {
    const stage = state.phase.at === "intake" ? "INTENT_CAPTURED" : "TRIAGED";
    return ok([filled(null), { type: "stage", stage }]);
  }
  if (slot === "plan") return ok([filled(null)]);
  const lease = liveLease(state.leases, slot);
  if (lease === undefined) {
    return refuse("lease.none", `no lease of slot ${slot} is out, so nothing can be handed in for it`, "atlas resume");
  }
  if (command.lease !== null && command.lease !== lease.lease) {
    return refuse("lease.stale", `the result names another lease than the one that is out`, "atlas next");
  }
  if (command.of !== undefined && command.of !== lease.lease) {
    return refuse("lease.stale", `the lease of slot ${slot} ended meanwhile, and another is out`, "atlas next");
  }
  const taken: ChangeEvent = { type: "lease-ended", lease: lease.lease, why: "taken" };
  const events: [ChangeEvent, ...ChangeEvent[]] = [filled(lease.lease), taken];
  if (slot === "scout") events.push({ type: "stage", stage: "GROUNDED" });
  if (slot === "coder") events.push({ type: "stage", stage: "CODED" });
  return ok(events);
}

/** A bad ending: a narrower hand-out once, then the slot is given up and everybody is told. */
function fail(state: ChangeState, command: Extract<ChangeCommand, { do: "fail" }>): Decision {
  const { slot, how } = command;
  const lease = liveLease(state.leases, slot);
  if (lease === undefined) return refuse("lease.none", `no lease of slot ${slot} is out`, "atlas next");
  if (command.of !== undefined && command.of !== lease.lease) {
    return refuse("lease.stale", `the lease of slot ${slot} ended meanwhile, and another is out`, "atlas next");
  }
  if (slot === "coder" && !state.isolated && !command.stopped) {
    return refuse(
      "tree.writer_unknown",
      "the coder may still be writing in your working tree; end it first, then say that it is gone",
      "atlas resume --redo coder",
    );
  }
  return ok(giveBack(state, lease.lease, slot, how));
}

function giveBack(state: ChangeState, lease: string, slot: string, how: LeaseEnd): NonEmpty<ChangeEvent> {
  const { phase } = state;
  const failures =
    (phase.at === "critique"
      ? phase.failures[slot as keyof typeof phase.failures]
      : "failures" in phase
        ? phase.failures
        : 0) + 1;
  const ended: ChangeEvent = { type: "lease-ended", lease, why: how };
  if (failures < ATTEMPTS_MAX) return endLease(state, lease, how) ?? [ended];
  const events: [ChangeEvent, ...ChangeEvent[]] = [ended, { type: "degraded", slot, pass: passOf(state), why: how }];
  // A later pass must not stand in a tree its writer may still be writing in.
  if (phase.at === "code" && phase.tree !== null) events.push({ type: "tree-staled", name: phase.tree });
  if (slot === "scout") events.push({ type: "stage", stage: "GROUNDED" });
  return events;
}

/** Ends a lease; an own tree its writer may have half written is given up with it. */
function endLease(state: ChangeState, lease: string, why: LeaseEnd): NonEmpty<ChangeEvent> | null {
  const live = state.leases.live.find((one) => one.lease === lease);
  if (live === undefined) return null;
  const events: [ChangeEvent, ...ChangeEvent[]] = [{ type: "lease-ended", lease, why }];
  if (live.slot === "coder" && state.phase.at === "code" && state.phase.tree !== null) {
    events.push({ type: "tree-staled", name: state.phase.tree });
  }
  return events;
}

function finish(state: ChangeState, effect: ChangeEffect, outcome: EffectOutcome): NonEmpty<ChangeEvent> {
  const key = effectKey(effect);
  if (outcome.of === "take-base") {
    return [
      { type: "effect-ended", key, outcome: "done" },
      { type: "based", tree: outcome.tree },
    ];
  }
  if (effect.effect === "run-command") {
    const { pass, of } = effect;
    if (outcome.of === "run-command") {
      const { sha256, ending, more } = outcome;
      return [
        { type: "effect-ended", key, outcome: "done" },
        { type: "measured", pass, of, sha256, ending, more },
      ];
    }
    return [
      { type: "effect-ended", key, outcome: "lost" },
      { type: "command-lost", pass, of },
    ];
  }
  if (effect.effect === "deliver" && outcome.of === "deliver") {
    const { choice } = effect;
    return [
      { type: "effect-ended", key, outcome: "done" },
      { type: "delivered", choice, written: outcome.written, left: outcome.left },
      ...(state.phase.at === "ended" ? [] : outputEvents(state, choice)),
    ];
  }
  return treeEnd(effect as TreeEffect, outcome as TreeOutcome);
}
