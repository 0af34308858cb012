/** What no file of an original's run holds any more, or what two of them tell differently: a code and its sentence. */
import type { StateDamage } from "./original-state.ts";

const sentences = {
  "state-missing": "state.json is missing; the stage comes from log.jsonl.",
  "state-empty": "state.json is empty; the stage comes from log.jsonl.",
  "state-torn": "state.json is cut off or damaged; the stage comes from log.jsonl.",
  "state-shape": "state.json is not a run's state; the stage comes from log.jsonl.",
  "state-differs": "state.json shows another stage than log.jsonl; the log counts.",
  "log-missing": "log.jsonl is missing or names no stage; stage and passes come from state.json.",
  "log-torn-line": "log.jsonl holds damaged lines; what they recorded is lost.",
  "log-torn-tail": "the last line of log.jsonl is torn; the stage state.json shows was taken for it.",
  "id-mismatch": "the files name another run than their folder; the folder's name counts.",
  "intent-mismatch":
    "intent.txt and state.json hold different requests; the one of state.json belongs to the criteria.",
  "dag-torn": "plan.dag.json is missing or cannot be read; the run had ended.",
  intent: "the request is in no file any more.",
  success_criteria: "the success criteria are in no file any more.",
  scope_paths: "the scope paths are in no file any more.",
  verify_cmd: "the verify command is in no file any more.",
  baseline: "the baseline commit is in no file any more.",
} as const satisfies Record<string, string> & Record<StateDamage, string>;

export type LossCode = keyof typeof sentences;

export interface Loss {
  readonly code: LossCode;
  /** For people; fixed words, no text of the run. */
  readonly sentence: string;
}

export function loss(code: LossCode): Loss {
  return { code, sentence: sentences[code] };
}
