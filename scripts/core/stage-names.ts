/** The stage names of the seed. A name from a file that is none of these never passes through. */

/** In order; each edge goes to the next, over a conditional stage, or from REFINE back to CODED. */
export const CHANGE_STAGES = [
  "INIT",
  "INTENT_CAPTURED",
  "CLARIFY",
  "TRIAGED",
  "GROUNDED",
  "CODED",
  "VERIFIED",
  "REFINE",
  "OUTPUT",
] as const;

export const CHANGE_CONDITIONAL_STAGES = ["CLARIFY", "REFINE"] as const;

/** Every finished run of kind `change` has completed these. */
export const CHANGE_MANDATORY_STAGES = [
  "INIT",
  "INTENT_CAPTURED",
  "TRIAGED",
  "GROUNDED",
  "CODED",
  "VERIFIED",
  "OUTPUT",
] as const;

export const WEAVE_STAGES = ["DECOMPOSED", "BUDGETED", "SCHEDULE", "INTEGRATE", "AGGREGATE", "OUTPUT"] as const;

export type ChangeStage = (typeof CHANGE_STAGES)[number];
export type WeaveStage = (typeof WEAVE_STAGES)[number];
export type StageName = ChangeStage | WeaveStage;

const changeStages: ReadonlySet<unknown> = new Set(CHANGE_STAGES);
const weaveStages: ReadonlySet<unknown> = new Set(WEAVE_STAGES);

export function isChangeStage(name: unknown): name is ChangeStage {
  return changeStages.has(name);
}

export function isWeaveStage(name: unknown): name is WeaveStage {
  return weaveStages.has(name);
}

export function isStageName(name: unknown): name is StageName {
  return isChangeStage(name) || isWeaveStage(name);
}
