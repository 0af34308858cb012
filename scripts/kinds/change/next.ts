import type { Step } from "../../core/kind.ts";
import { changeSlots, isSlotName } from "../../parts/slots.ts";
import { type ChangeState, LENSES, type Lens, wantedCommand } from "./state.ts";

/** The agent role that fills a slot; `root` for what the session itself writes. */
export function roleOf(slot: string): string {
  return isSlotName(slot) ? changeSlots[slot].by : "root";
}

/**
 * An adopted run at INIT: its request is in hand, so INTENT_CAPTURED is recorded with the first thing handed in. Until
 * then a resume shows the stage the original recorded, and changes nothing.
 */
export function isAdoptedIntake(state: ChangeState): boolean {
  return state.phase.at === "intake" && state.head.origin !== "atlas";
}

/** Slots the run waits for now. */
export function wantedSlots(state: ChangeState): readonly string[] {
  const { phase } = state;
  switch (phase.at) {
    case "recover":
      return ["packet"];
    case "intake":
      return isAdoptedIntake(state) ? ["triage"] : [];
    case "triage":
      return ["triage"];
    case "scout":
      return ["scout"];
    case "plan":
      return ["plan"];
    case "code":
      return ["coder"];
    case "critique":
      return LENSES.filter((lens: Lens) => phase.critics[lens] === "open");
    default:
      return [];
  }
}

/** The one thing to do next, from the fold alone. */
export function nextOfChange(state: ChangeState): Step {
  const { phase } = state;
  if (phase.at === "ended") return { step: "report", status: phase.status };
  if (state.gates.open !== null) {
    const { gate, nonce, options } = state.gates.open;
    return { step: "ask", gate, nonce, options };
  }
  switch (phase.at) {
    case "recover":
      return { step: "submit", slot: "packet", recipe: "packet" };
    case "intake":
      return isAdoptedIntake(state) ? { step: "submit", slot: "triage", recipe: "triage" } : { step: "settle" };
    case "triage":
      return { step: "submit", slot: "triage", recipe: "triage" };
    case "plan":
      return { step: "submit", slot: "plan", recipe: "plan" };
    case "scout":
    case "code":
    case "critique":
      return dispatchOrAwait(state);
    case "verify":
      if (wantedCommand(state) === null) return { step: "settle" };
      return state.effect === null ? { step: "run", verb: "verify" } : { step: "wait", why: "command.running" };
    default:
      return { step: "settle" };
  }
}

function dispatchOrAwait(state: ChangeState): Step {
  const slots = wantedSlots(state);
  if (slots.length === 0) return { step: "settle" };
  const leases = slots.map((slot) => state.leases.live.find((lease) => lease.slot === slot));
  if (leases.some((lease) => lease?.orphaned === true)) return { step: "settle" };
  const unstarted = leases.filter((lease) => lease !== undefined && !lease.started).map((lease) => lease!.lease);
  if (unstarted.length > 0) return { step: "dispatch", leases: unstarted };
  const out = slots.filter((_slot, index) => leases[index] !== undefined);
  const missing = slots.filter((_slot, index) => leases[index] === undefined);
  // What is missing beside others waits for room or gas: every command tries again, so nobody has to spin for it.
  return out.length === 0 ? { step: "hand-out", slots: missing } : { step: "await", slots: out };
}
