/**
 * The legal transitions of a change run, phase by event, as one table. Whatever is not listed throws, naming both.
 */
import { IllegalEvent } from "../../core/result.ts";
import type { ChangeStage } from "../../core/stage-names.ts";
import { isBadEnd } from "../../parts/lease.ts";
import { nextPass, type Pass } from "../../parts/passes.ts";
import type { ChangeEvent } from "./events.ts";
import { type ChangeState, filledKey, LENSES, type Lens, type Phase, passOf } from "./state.ts";

type EventOf<T extends ChangeEvent["type"]> = Extract<ChangeEvent, { type: T }>;
type PhaseOf<A extends Phase["at"]> = Extract<Phase, { at: A }>;

/** Events that leave the phase as it is, wherever they come. */
const neutral: ReadonlySet<ChangeEvent["type"]> = new Set([
  "born",
  "claimed",
  "released",
  "gas-granted",
  "leased",
  "lease-started",
  "asked",
  "tree-wanted",
  "tree-ready",
  "tree-kept",
  "tree-removed",
  "tree-left",
  "effect-began",
  "effect-ended",
  "based",
]);

/** Phases no label ends: there is none yet, or it stands. */
const unlabelled: ReadonlySet<Phase["at"]> = new Set(["unborn", "deliver", "ended"]);

type Step = (state: ChangeState, phase: never, event: never) => Phase;
type Row<A extends Phase["at"]> = {
  readonly [T in ChangeEvent["type"]]?: (state: ChangeState, phase: PhaseOf<A>, event: EventOf<T>) => Phase;
};

const cancelled = (): Phase => ({ at: "ended", status: "unverified", choice: "cancel" });

/** The legal transitions. */
const table: { readonly [A in Phase["at"]]: Row<A> } = {
  unborn: {
    opened: () => ({ at: "intake" }),
    adopted: (_state, _phase, event) =>
      event.packet === null
        ? { at: "recover", stage: event.stage, pass: event.pass }
        : phaseAfter(event.stage, event.pass, event.hasCommand),
  },
  intake: {
    filled: (_state, phase) => phase,
    stage: (state, phase, event) => {
      if (event.stage === "INIT") return phase;
      if (event.stage !== "INTENT_CAPTURED") return illegal(phase, `stage ${event.stage}`);
      return { at: state.missing.length > 0 || state.assumed.length > 0 ? "clarify" : "triage" };
    },
  },
  recover: {
    filled: (_state, phase) => phase,
    "packet-set": (_state, phase, event) => phaseAfter(phase.stage, phase.pass, event.hasCommand),
  },
  clarify: {
    answered: (_state, phase) => phase,
    "packet-set": (_state, phase) => phase,
    stage: (_state, phase, event) =>
      event.stage === "CLARIFY" ? { at: "triage" } : illegal(phase, `stage ${event.stage}`),
  },
  triage: {
    filled: (_state, phase) => phase,
    stage: (state, phase, event) =>
      event.stage === "TRIAGED" && "triage.0" in state.filled
        ? { at: "scout", failures: 0 }
        : illegal(phase, `stage ${event.stage}`),
  },
  scout: {
    filled: (_state, phase) => phase,
    degraded: (_state, phase) => phase,
    "lease-ended": (_state, phase, event) => (isBadEnd(event.why) ? { ...phase, failures: phase.failures + 1 } : phase),
    stage: (state, phase, event) =>
      event.stage === "GROUNDED" && ("scout.0" in state.filled || state.degraded.includes("scout.0"))
        ? { at: "plan", adjusted: false }
        : illegal(phase, `stage ${event.stage}`),
  },
  plan: { filled: (_state, phase) => ({ at: "pre-code", adjusted: phase.adjusted }) },
  "pre-code": {
    answered: (state, _phase, event) => {
      if (event.choice === "cancel") return cancelled();
      if (event.choice === "adjust") return { at: "plan", adjusted: true };
      return state.hasCommand && state.command === "undecided"
        ? { at: "approve", then: "code", pass: 0 }
        : preparing("code", 0);
    },
  },
  approve: {
    answered: (_state, phase, event) =>
      event.choice === "approve"
        ? preparing(phase.then, phase.pass)
        : { at: "judged", pass: phase.pass, tree: null, refine: false },
  },
  prepare: {
    "tree-staled": (_state, phase) => phase,
    prepared: (_state, phase, event) => ({ ...phase.then, tree: event.tree }),
  },
  code: {
    filled: (_state, phase) => phase,
    degraded: (_state, phase) => ({ at: "judged", pass: phase.pass, tree: phase.tree, refine: false }),
    "lease-ended": (_state, phase, event) => (isBadEnd(event.why) ? { ...phase, failures: phase.failures + 1 } : phase),
    "tree-staled": (_state, phase) => ({ at: "prepare", then: { ...phase, tree: null } }),
    stage: (state, phase, event) => {
      if (event.stage !== "CODED" || !(filledKey("coder", phase.pass) in state.filled)) {
        return illegal(phase, `stage ${event.stage}`);
      }
      return state.hasCommand && state.command === "undecided"
        ? { at: "approve", then: "verify", pass: phase.pass }
        : verifying(phase.pass, phase.tree);
    },
  },
  verify: {
    "command-lost": (_state, phase) => ({ ...phase, losses: phase.losses + 1 }),
    measured: (_state, phase, event) => {
      const done = [...phase.done, event.of];
      const more = [...new Set([...phase.more, ...event.more])].filter((role) => !done.includes(role));
      return { ...phase, done, more, losses: 0 };
    },
    evidence: (_state, phase) => ({
      at: "critique",
      pass: phase.pass,
      tree: phase.tree,
      critics: everyLens("open"),
      failures: everyLens(0),
    }),
  },
  critique: {
    filled: (_state, phase, event) => critic(phase, event.slot, "filled"),
    degraded: (_state, phase, event) => critic(phase, event.slot, "missing"),
    "lease-ended": (state, phase, event) => {
      const slot = state.leases.live.find((lease) => lease.lease === event.lease)?.slot as Lens | undefined;
      if (slot === undefined || !isBadEnd(event.why)) return phase;
      return { ...phase, failures: { ...phase.failures, [slot]: phase.failures[slot] + 1 } };
    },
    judged: (_state, phase) => phase,
    stage: (state, phase, event) => {
      const judgement = state.judgements.at(-1);
      if (event.stage !== "VERIFIED" || judgement?.pass !== phase.pass) return illegal(phase, `stage ${event.stage}`);
      return { at: "judged", pass: phase.pass, tree: phase.tree, refine: judgement.refine };
    },
  },
  judged: {
    stage: (_state, phase, event) => {
      const pass = nextPass(phase.pass);
      return event.stage === "REFINE" && phase.refine && pass !== null
        ? preparing("code", pass)
        : illegal(phase, `stage ${event.stage}`);
    },
    labelled: (_state, phase) => ({ at: "output", pass: phase.pass, tree: phase.tree }),
  },
  output: {
    answered: (_state, phase) => phase,
    "delivery-wanted": (_state, phase) => ({ at: "deliver", pass: phase.pass }),
    stage: (_state, phase, event) => {
      if (event.stage === "OUTPUT") return phase;
      const pass = nextPass(phase.pass);
      return event.stage === "REFINE" && pass !== null
        ? preparing("code", pass)
        : illegal(phase, `stage ${event.stage}`);
    },
    ended: (_state, _phase, event) => ({ at: "ended", status: event.status, choice: event.choice }),
  },
  deliver: {
    delivered: (_state, phase) => phase,
    stage: (state, phase, event) =>
      event.stage === "OUTPUT" && state.delivery?.done === true ? phase : illegal(phase, `stage ${event.stage}`),
    ended: (_state, _phase, event) => ({ at: "ended", status: event.status, choice: event.choice }),
  },
  ended: {
    "delivery-wanted": (_state, phase) => phase,
    delivered: (_state, phase) => phase,
    // A headless run ends with its label; its output gate may still be answered.
    answered: (_state, phase, event) => ({ ...phase, choice: event.choice }),
    labelled: (_state, phase) => phase,
    stage: (_state, phase, event) => (event.stage === "OUTPUT" ? phase : illegal(phase, `stage ${event.stage}`)),
    ended: (_state, _phase, event) => ({ at: "ended", status: event.status, choice: event.choice }),
    "lease-ended": (_state, phase) => phase,
    "tree-staled": (_state, phase) => phase,
  },
};

/** The phase after an event. Throws `IllegalEvent`. */
export function nextPhase(state: ChangeState, event: ChangeEvent): Phase {
  if (event.type === "abandoned") return { at: "ended", status: "abandoned", choice: null };
  if (event.type === "forked") return withoutTree(state.phase);
  if (event.type === "rolled-back") return rolledBack(state.phase);
  if (neutral.has(event.type)) return state.phase;
  // The gas gate opens in any phase and moves none; "stop" is followed by its label in the same line.
  if (event.type === "answered" && event.gate === "gas") return state.phase;
  if (event.type === "labelled" && !unlabelled.has(state.phase.at)) {
    return { at: "output", pass: passOf(state), tree: treeOf(state.phase) };
  }
  const step = (table[state.phase.at] as Record<string, Step | undefined>)[event.type];
  if (step === undefined) {
    if (event.type === "lease-ended" || event.type === "tree-staled") return state.phase;
    return illegal(state.phase, event.type);
  }
  return step(state, state.phase as never, event as never);
}

/** A fork has no tree: it makes one of its own before it goes on. What the parent was delivering it asks about anew. */
function withoutTree(phase: Phase): Phase {
  if (phase.at === "deliver") return { at: "prepare", then: { at: "output", pass: phase.pass, tree: null } };
  if (!("tree" in phase) || phase.tree === null) return phase;
  return { at: "prepare", then: { ...phase, tree: null } };
}

/** The tree goes back to a checkpoint; what was judged of it no longer holds. */
function rolledBack(phase: Phase): Phase {
  if (!("tree" in phase) || phase.tree === null) return illegal(phase, "rolled-back");
  return { at: "prepare", then: { at: "judged", pass: phase.pass, tree: null, refine: false } };
}

function treeOf(phase: Phase): string | null {
  return "tree" in phase ? phase.tree : null;
}

/** Where a run stands after `stage` was the last one recorded done. A trailing REFINE is coded, never output. */
export function phaseAfter(stage: ChangeStage, pass: Pass, hasCommand: boolean): Phase {
  switch (stage) {
    case "INIT":
      return { at: "intake" };
    case "INTENT_CAPTURED":
    case "CLARIFY":
      return { at: "triage" };
    case "TRIAGED":
      return { at: "scout", failures: 0 };
    case "GROUNDED":
      return { at: "plan", adjusted: false };
    case "CODED":
      return hasCommand ? { at: "approve", then: "verify", pass } : preparing("verify", pass);
    case "VERIFIED":
      return { at: "prepare", then: { at: "judged", pass, tree: null, refine: false } };
    case "REFINE":
      return preparing("code", pass);
    case "OUTPUT":
      return { at: "ended", status: "unverified", choice: null };
  }
}

function verifying(pass: Pass, tree: string | null): PhaseOf<"verify"> {
  return { at: "verify", pass, tree, losses: 0, done: [], more: [] };
}

function preparing(then: "code" | "verify", pass: Pass): Phase {
  const base = { pass, tree: null };
  return {
    at: "prepare",
    then: then === "code" ? { at: "code", ...base, failures: 0 } : verifying(pass, null),
  };
}

function critic(phase: PhaseOf<"critique">, slot: string, status: "filled" | "missing"): Phase {
  if (!LENSES.includes(slot as Lens)) return illegal(phase, `slot ${slot}`);
  return { ...phase, critics: { ...phase.critics, [slot]: status } };
}

function everyLens<T>(value: T): Readonly<Record<Lens, T>> {
  return { correctness: value, "code-quality": value, security: value };
}

function illegal(phase: Phase, event: string): never {
  throw new IllegalEvent(phase.at, event);
}
