/** What follows from the fold alone: recorded by whoever runs the next command, the same after any crash. */
import type { Moment } from "../../core/kind.ts";
import type { NonEmpty } from "../../core/result.ts";
import type { GateName } from "../../parts/gate.ts";
import { owedTrees, readyTree } from "../../parts/tree.ts";
import type { ChangeEvent } from "./events.ts";
import { endEvents, outputOptions } from "./labels.ts";
import { isAdoptedIntake } from "./next.ts";
import { isProductLost } from "./product.ts";
import type { ChangeState, Label, Phase } from "./state.ts";

export function decideSettle(state: ChangeState, moment: Moment): NonEmpty<ChangeEvent> | null {
  if (state.gates.open !== null) return null;
  const { phase } = state;
  switch (phase.at) {
    case "intake":
      return isAdoptedIntake(state) ? null : [{ type: "stage", stage: "INTENT_CAPTURED" }];
    case "triage":
      return "triage.0" in state.filled ? [{ type: "stage", stage: "TRIAGED" }] : null;
    case "clarify":
      return state.missing.length === 0 ? [{ type: "stage", stage: "CLARIFY" }] : ask(moment, "clarify", ["text"]);
    case "pre-code":
      return askOrDefault(
        state,
        moment,
        "pre-code",
        phase.adjusted ? ["approve", "cancel"] : ["approve", "adjust", "cancel"],
      );
    case "approve":
      // Trees of a dead turn first: what they hold decides whether there is anything to run a command on.
      if (owedTrees(state.trees).length > 0) return null;
      if (isProductLost(state)) return endEvents(state, "UNVERIFIED", ["product.left"], moment);
      return askOrDefault(
        state,
        moment,
        "approve-command",
        ["approve", "reject"],
        state.vouched ? "approve" : "reject",
      );
    case "prepare":
      return prepare(state, moment);
    case "judged": {
      if (phase.refine) return [{ type: "stage", stage: "REFINE" }];
      const { label, reasons } = labelOf(state, phase);
      return endEvents(state, label, reasons, moment);
    }
    case "output":
      return ask(moment, "output", outputOptions(state));
    default:
      return null;
  }
}

/** Trees that must be kept or removed come first (they are owed effects), then the base, then the new tree. */
function prepare(state: ChangeState, moment: Moment): NonEmpty<ChangeEvent> | null {
  if (owedTrees(state.trees).length > 0) return null;
  if (isProductLost(state)) return endEvents(state, "UNVERIFIED", ["product.left"], moment);
  if (state.base === null) return null;
  if (!state.isolated) return [{ type: "prepared", tree: null }];
  const ready = readyTree(state.trees);
  if (ready !== null) return [{ type: "prepared", tree: ready.name }];
  const made = state.trees.all.filter((tree) => tree.name.startsWith(`e${state.head.epoch}.`)).length;
  return [{ type: "tree-wanted", name: `e${state.head.epoch}.${made + 1}`, from: state.checkpoint, foreign: false }];
}

function ask(moment: Moment, gate: GateName, options: readonly string[]): NonEmpty<ChangeEvent> {
  return [{ type: "asked", gate, nonce: moment.fresh("gate"), options }];
}

/** Headless, the caller's word stands for the human's: recorded as such, never as a human's. */
function askOrDefault(
  state: ChangeState,
  moment: Moment,
  gate: GateName,
  options: readonly string[],
  byDefault: "approve" | "reject" = "approve",
): NonEmpty<ChangeEvent> {
  const nonce = moment.fresh("gate");
  const asked: ChangeEvent = { type: "asked", gate, nonce, options };
  if (state.form !== "headless") return [asked];
  return [asked, { type: "answered", gate, nonce, choice: byDefault, grade: "headless-default" }];
}

/** Never green by default: without a judgement of this pass the label is UNVERIFIED, and says why. */
function labelOf(
  state: ChangeState,
  phase: Extract<Phase, { at: "judged" }>,
): { readonly label: Label; readonly reasons: readonly string[] } {
  if (state.rolledBack) return { label: "UNVERIFIED", reasons: ["rolled.back"] };
  if (state.command === "rejected") {
    const answer = state.gates.answers.findLast((one) => one.gate === "approve-command");
    const reason = answer?.grade === "headless-default" ? "command.unapproved" : "command.rejected";
    return { label: "UNVERIFIED", reasons: [reason] };
  }
  const judgement = state.judgements.findLast((one) => one.pass === phase.pass);
  // Never silent: what was given up on the way is said beside the verdict.
  const given = state.degraded.includes("scout.0") ? ["scout.degraded"] : [];
  if (judgement !== undefined) return { label: judgement.label, reasons: [...judgement.reasons, ...given] };
  if (state.degraded.includes(`coder.${phase.pass}`)) return { label: "UNVERIFIED", reasons: ["coder.failed"] };
  return { label: "UNVERIFIED", reasons: ["adopted.unjudged"] };
}
