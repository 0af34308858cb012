/**
 * The words about a run that may be said to a model. A ledger is untrusted input: whatever it holds is mapped onto
 * these lists or becomes "unknown", never repeated.
 */
import { CHANGE_STAGES, WEAVE_STAGES } from "../core/stage-names.ts";

/** Stages counted as progress, in order; a pass of REFINE takes the later ones back and is counted apart. */
const countedStages: Readonly<Record<string, readonly string[]>> = {
  change: CHANGE_STAGES.filter((stage) => stage !== "REFINE"),
  weave: WEAVE_STAGES,
};

const spokenStages = new Set(["REFINE", ...Object.values(countedStages).flat()]);
const spokenKinds = new Set(["change", "weave", "flow", "branch"]);

export function spokenKind(kind: unknown): string {
  return typeof kind === "string" && spokenKinds.has(kind) ? kind : "unknown";
}

/** `none` before the first completed stage. */
export function spokenStage(stage: unknown): string {
  if (stage === null || stage === undefined) return "none";
  return typeof stage === "string" && spokenStages.has(stage) ? stage : "unknown";
}

export function isSpokenStage(stage: unknown): stage is string {
  return typeof stage === "string" && spokenStages.has(stage);
}

/** How many of a kind's counted stages stand, and of how many; `total` is null for a kind without a list. */
export function progressOf(
  kind: string,
  done: readonly string[],
): { readonly done: number; readonly total: number | null } {
  const counted = Object.hasOwn(countedStages, kind) ? countedStages[kind] : undefined;
  if (counted === undefined) return { done: done.length, total: null };
  return { done: counted.filter((stage) => done.includes(stage)).length, total: counted.length };
}
