/** The original's `state.json`: a projection of its log, and the only place of the frozen packet. Read field by field. */
import { isIsoTime } from "../../core/order.ts";
import { isStageName, type StageName } from "../../core/stage-names.ts";
import { isRecord, isTextList, parseTolerant } from "../../core/tolerant-json.ts";
import { asSha, asStage, type PendingRollback, type ReadStage } from "./original-log.ts";

export type StateDamage = "state-missing" | "state-empty" | "state-torn" | "state-shape";

export interface OriginalState {
  readonly stage: ReadStage;
  readonly saysDone: boolean;
  /** Names recorded done, in the file's order. */
  readonly stages: readonly StageName[];
  /** The mirror of the log's count; only damage makes it count. */
  readonly refinePasses: number;
  readonly runId: string | null;
  readonly updatedTs: string | null;
  readonly pendingRollback: PendingRollback | null;
  /** Each null: missing or of another type. An empty text or list was written so, before the request was clear. */
  readonly intent: string | null;
  readonly successCriteria: readonly string[] | null;
  readonly scopePaths: readonly string[] | null;
  readonly verifyCommand: string | null;
  /** `""`: the original found no commit. */
  readonly baseline: string | null;
}

const passesMax = 1000;

/** Total over any bytes; null: there is no such file. */
export function readOriginalState(bytes: Uint8Array | null): OriginalState | StateDamage {
  if (bytes === null) return "state-missing";
  const parsed = parseTolerant(bytes);
  if (!parsed.ok) return parsed.why === "empty" ? "state-empty" : "state-torn";
  const state = parsed.value;
  if (!isRecord(state) || typeof state.current_state !== "string") return "state-shape";
  return {
    stage: asStage(state.current_state),
    saysDone: state.current_state === "DONE",
    stages: isRecord(state.stages) ? Object.keys(state.stages).filter(isStageName) : [],
    refinePasses: asPasses(state.refine_passes),
    runId: asText(state.run_id),
    updatedTs: isIsoTime(state.updated_ts) ? state.updated_ts : null,
    pendingRollback: asRollback(state.rollback_pending),
    intent: asText(state.intent),
    successCriteria: asTextList(state.success_criteria),
    scopePaths: asTextList(state.scope_paths),
    verifyCommand: asText(state.verify_cmd),
    baseline: state.baseline_sha === "" ? "" : asSha(state.baseline_sha),
  };
}

function asText(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function asTextList(value: unknown): readonly string[] | null {
  return isTextList(value) ? value : null;
}

function asPasses(value: unknown): number {
  return Number.isSafeInteger(value) ? Math.min(Math.max(value as number, 0), passesMax) : 0;
}

function asRollback(value: unknown): PendingRollback | null {
  return isRecord(value) ? { targetSha: asSha(value.target_sha), targetStage: asStage(value.target_stage) } : null;
}
