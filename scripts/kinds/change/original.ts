/**
 * A run of the original, from whatever its files still hold. The log is the truth, the state a projection of it:
 * a torn or empty `state.json` costs the packet, never the stage. Nothing here is written or repaired, and no text
 * of a file passes for a stage, an id, a time or a commit.
 */
import { isRunId } from "../../core/ids.ts";
import type { Result } from "../../core/result.ts";
import { isWeaveStage, type StageName } from "../../core/stage-names.ts";
import {
  hasWeaveStage,
  type OriginalLog,
  type PendingRollback,
  type ReadStage,
  readOriginalLog,
} from "./original-log.ts";
import { type Loss, type LossCode, loss } from "./original-loss.ts";
import { type OriginalPacket, packetOf } from "./original-packet.ts";
import { type OriginalState, readOriginalState, type StateDamage } from "./original-state.ts";

export interface OriginalFiles {
  /** null: missing, or could not be read. */
  readonly state: Uint8Array | null;
  readonly log: Uint8Array | null;
  readonly intent: Uint8Array | null;
  /** `unchecked`: the file is there, nobody looked inside. null: it is there and could not be read. */
  readonly dag: "absent" | "unchecked" | Result<unknown> | null;
  readonly idOfFolder: string;
}

export interface ReadableOriginal {
  readonly readable: true;
  readonly id: string;
  readonly graph: boolean;
  /** Completed last; a trailing REFINE stays REFINE. */
  readonly stage: ReadStage;
  readonly terminal: boolean;
  readonly refinePasses: number;
  /** Time of the last whole log line, else of the state. */
  readonly updatedTs: string | null;
  readonly losses: readonly Loss[];
  /** null: a part of it is in no file any more. */
  readonly packet: OriginalPacket | null;
  readonly intent: string | null;
  readonly pendingRollback: PendingRollback | null;
  /** Completed at least once, in order of first completion. */
  readonly stages: readonly StageName[];
}

export interface UnreadableOriginal {
  readonly readable: false;
  /** Empty if the folder's name is no run id. */
  readonly id: string;
  readonly why: { readonly code: UnreadableCode; readonly sentence: string };
  readonly terminal: false;
  readonly graph: boolean;
  /** What was still to be read of it. */
  readonly stage: ReadStage;
  readonly updatedTs: string | null;
}

export type UnreadableCode =
  | "id.invalid"
  | "dag.torn"
  | "dag.unreadable"
  | "dag.missing"
  | "log.damaged"
  | "state.missing"
  | "state.empty"
  | "state.torn"
  | "state.shape";

export type OriginalRun = ReadableOriginal | UnreadableOriginal;

/** Total over any bytes. The caller bounds the files' sizes. */
export function readOriginalRun(files: OriginalFiles): OriginalRun {
  const log = readOriginalLog(files.log ?? new Uint8Array());
  const state = readOriginalState(files.state);
  const known = typeof state === "string" ? null : state;
  const tailStage = stageOfTornTail(log, known, files.idOfFolder);
  const fromLog = tailStage ?? log.stage;
  const stage = fromLog ?? known?.stage ?? null;
  const stages = stagesOf(log, known, tailStage);
  const graph = files.dag !== "absent" || hasWeaveStage([...stages, known?.stage]);
  const updatedTs = log.lastTs ?? known?.updatedTs ?? null;
  const saysDone = log.stage === null ? (known?.saysDone ?? false) : log.saysDone && tailStage === null;
  const terminal = stage === "OUTPUT" || saysDone;

  const why = whyUnreadable(files, log, state, stage, graph && !terminal);
  if (why !== null) {
    const id = why.code === "id.invalid" ? "" : files.idOfFolder;
    return { readable: false, id, why, terminal: false, graph, stage: speakable(stage, graph), updatedTs };
  }

  const codes: LossCode[] = [];
  if (typeof state === "string") codes.push(state);
  if (log.stage === null && tailStage === null) codes.push("log-missing");
  if (log.damagedLines > 0) codes.push("log-torn-line");
  if (tailStage !== null) codes.push("log-torn-tail");
  if (known !== null && fromLog !== null && fromLog !== known.stage) codes.push("state-differs");
  if ([...log.runIds, known?.runId].some((id) => isOtherRun(id, files.idOfFolder))) codes.push("id-mismatch");
  if (terminal && graph && !isDagUsable(files.dag)) codes.push("dag-torn");
  const { packet, intent, lost } = packetOf(known, files.intent);
  return {
    readable: true,
    id: files.idOfFolder,
    graph,
    stage: speakable(stage, graph),
    terminal,
    refinePasses: refinePassesOf(log, known, tailStage),
    updatedTs,
    losses: [...codes, ...lost].map(loss),
    packet,
    intent,
    // A torn line may be the one that opened it.
    pendingRollback: log.pendingRollback ?? (log.damagedLines > 0 ? (known?.pendingRollback ?? null) : null),
    stages,
  };
}

/**
 * The stage a torn last line recorded, or null. The state is written after the line, so the stage the state shows
 * is the line's if the fragment reads like the beginning of exactly that line.
 */
function stageOfTornTail(log: OriginalLog, state: OriginalState | null, idOfFolder: string): StageName | null {
  if (log.tail === null || state === null || state.stage === "unknown" || state.stage === log.stage) return null;
  const runId = log.runIds[0] ?? state.runId ?? idOfFolder;
  const line = `{"run_id": ${JSON.stringify(runId)}, "stage": "${state.stage}"`;
  return line.startsWith(log.tail) || log.tail.startsWith(line) ? state.stage : null;
}

/** Lines that say REFINE. Where lines are damaged, the state's mirror binds up to what they can hide: one each. */
function refinePassesOf(log: OriginalLog, state: OriginalState | null, tailStage: StageName | null): number {
  if (log.stage === null && tailStage === null) {
    return Math.max(state?.refinePasses ?? 0, state?.stages.includes("REFINE") ? 1 : 0);
  }
  const counted = log.refinePasses + (tailStage === "REFINE" ? 1 : 0);
  return Math.max(counted, Math.min(state?.refinePasses ?? 0, log.refinePasses + log.damagedLines));
}

function stagesOf(log: OriginalLog, state: OriginalState | null, tailStage: StageName | null): readonly StageName[] {
  if (log.stage === null && tailStage === null) return state?.stages ?? [];
  return tailStage === null ? log.stages : [...new Set([...log.stages, tailStage])];
}

/** A weave's own stage in a run without a graph would send a reader to the wrong machine. */
function speakable(stage: ReadStage | null, graph: boolean): ReadStage {
  if (stage === null) return "unknown";
  return !graph && stage !== "OUTPUT" && isWeaveStage(stage) ? "unknown" : stage;
}

function whyUnreadable(
  files: OriginalFiles,
  log: OriginalLog,
  state: OriginalState | StateDamage,
  stage: ReadStage | null,
  needsDag: boolean,
): UnreadableOriginal["why"] | null {
  if (!isRunId(files.idOfFolder)) return { code: "id.invalid", sentence: "The folder's name is no run id." };
  if (log.hopeless) return { code: "log.damaged", sentence: "log.jsonl holds more damage than lines of a run." };
  if (needsDag) {
    if (files.dag === "absent") {
      return { code: "dag.missing", sentence: "The log is a graph run's, but plan.dag.json is missing." };
    }
    if (files.dag === null) return { code: "dag.unreadable", sentence: "plan.dag.json could not be read." };
    if (files.dag !== "unchecked" && !files.dag.ok) {
      return { code: "dag.torn", sentence: `${files.dag.error.reason}.` };
    }
  }
  if (stage === null && typeof state === "string") {
    return { code: unreadableBecause[state], sentence: `${stateWords[state]}, and log.jsonl names no stage.` };
  }
  return null;
}

const unreadableBecause = {
  "state-missing": "state.missing",
  "state-empty": "state.empty",
  "state-torn": "state.torn",
  "state-shape": "state.shape",
} as const satisfies Record<StateDamage, UnreadableCode>;

const stateWords = {
  "state-missing": "state.json is missing",
  "state-empty": "state.json is empty",
  "state-torn": "state.json is cut off or damaged",
  "state-shape": "state.json is not a run's state",
} as const satisfies Record<StateDamage, string>;

function isDagUsable(dag: OriginalFiles["dag"]): boolean {
  return dag === "unchecked" || (dag !== "absent" && dag !== null && dag.ok);
}

/** A sub-run's files say `<root>/tasks/<node>`, its folder only `<node>`. */
function isOtherRun(said: string | null | undefined, idOfFolder: string): boolean {
  return typeof said === "string" && said !== idOfFolder && !said.endsWith(`/tasks/${idOfFolder}`);
}
