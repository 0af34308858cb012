import type { Moment } from "../../core/kind.ts";
import type { NonEmpty } from "../../core/result.ts";
import { PASSES_MAX } from "../../parts/passes.ts";
import type { ChangeEvent } from "./events.ts";
import { type ChangeState, type Label, passOf } from "./state.ts";

/**
 * A run's label becomes durable. Headless that is its end; the output gate stays open for a later answer.
 * Interactive, the gate is asked by the next settling and its answer is the end.
 */
export function endEvents(
  state: ChangeState,
  label: Label,
  reasons: readonly string[],
  moment: Moment,
): NonEmpty<ChangeEvent> {
  const labelled: ChangeEvent = { type: "labelled", label, reasons };
  if (state.form !== "headless") return [labelled];
  return [
    labelled,
    { type: "asked", gate: "output", nonce: moment.fresh("gate"), options: ["apply", "discard", "follow-up"] },
    { type: "stage", stage: "OUTPUT" },
    { type: "ended", status: label === "VERIFIED" ? "verified" : "unverified", choice: null },
  ];
}

/** The end of an interactive run: its output gate is answered, and what was chosen is done. */
export function outputEvents(state: ChangeState, choice: string): NonEmpty<ChangeEvent> {
  return [
    { type: "stage", stage: "OUTPUT" },
    { type: "ended", status: state.label === "VERIFIED" ? "verified" : "unverified", choice },
  ];
}

/** What the human may choose at the end of an interactive run. */
export function outputOptions(state: ChangeState): readonly string[] {
  return mayRefine(state) ? ["apply", "refine", "discard"] : ["apply", "discard", "follow-up"];
}

/** Another pass follows a coder's pass. It opens no way around the plan's gate, and runs no command that was rejected. */
export function mayRefine(state: ChangeState): boolean {
  const pass = passOf(state);
  const wasCoded = state.stages.includes("CODED") || state.degraded.includes(`coder.${pass}`);
  return pass < PASSES_MAX && wasCoded && state.command !== "rejected";
}
