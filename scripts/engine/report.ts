/** A run's report: what was asked, done, judged, resumed and not redone. Made from its ledger and artifacts alone. */
import type { EventBase } from "../core/kind.ts";
import { ORIGIN } from "../core/line.ts";
import { type ChangeState, type Delivery, filledKey } from "../kinds/change/state.ts";
import type { Answer } from "../parts/gate.ts";
import type { Defect } from "../verify/defect.ts";
import type { Evidence } from "../verify/evidence.ts";
import type { Engine } from "./context.ts";
import { verdictOf } from "./judge.ts";
import { labelNow } from "./label-now.ts";
import type { Loaded } from "./ledger.ts";
import { readLog } from "./log.ts";
import { readPacket } from "./packets.ts";
import { type Dispatch, type Resumption, readLines, type StageSpan } from "./report-lines.ts";
import {
  type ReportedCommand,
  type ReportedLens,
  readOrNull,
  reportedCommands,
  reportedEvidence,
  reportedLenses,
} from "./report-measures.ts";
import { lastJudged } from "./result-trees.ts";
import { type ToolUse, toolUseOf } from "./tool-use.ts";
import { type WitnessSays, witnessSays } from "./witness.ts";

export interface Report {
  readonly v: 1;
  readonly run: string;
  readonly kind: "change";
  /** As it is printed now; null: none yet. */
  readonly label: string | null;
  readonly reasons: readonly string[];
  readonly asked: string | null;
  readonly assumptions: readonly string[];
  readonly stages: readonly StageSpan[];
  readonly commands: readonly ReportedCommand[];
  /** Of the pass that was judged last, by name. */
  readonly lenses: Readonly<Record<string, ReportedLens>>;
  readonly revertRed: Evidence["revertRed"] | null;
  /** Of the pass that was judged last, critics' included; null: it was not judged, or cannot be any more. */
  readonly defects: { readonly blocking: readonly Defect[]; readonly advisory: readonly Defect[] } | null;
  readonly gates: readonly Pick<Answer, "gate" | "choice" | "grade">[];
  readonly dispatches: readonly Dispatch[];
  readonly resumed: readonly Resumption[];
  readonly toolUse: ToolUse;
  readonly tree: string | null;
  readonly delivery: Delivery | null;
  readonly ledger: { readonly seq: number; readonly sum: string };
  readonly witness: WitnessSays;
}

/** Writes nothing. The same ledger, artifacts and tree give the same report. */
export function reportOf(engine: Engine, loaded: Loaded<ChangeState>): Report {
  const { state, tip, folder } = loaded;
  const read = readLog<EventBase>(engine.fs, folder.ledger, ORIGIN);
  const told = readLines(read === null || "bad" in read ? [] : read.chain.lines);
  const now = labelNow(engine, loaded);
  const pass = lastJudged(state);
  const evidence = reportedEvidence(engine, loaded, pass);
  const isJudged = state.judgements.some((judgement) => judgement.pass === pass);
  const judged = isJudged && filledKey("evidence", pass) in state.filled;
  const verdict = judged ? readOrNull(() => verdictOf(engine, loaded, pass)) : null;
  return {
    v: 1,
    run: folder.id,
    kind: "change",
    label: now.label,
    reasons: now.reasons,
    asked: readOrNull(() => readPacket(engine, loaded))?.intent ?? null,
    assumptions: state.assumed,
    stages: told.stages,
    commands: reportedCommands(engine, loaded, told.commands),
    lenses: reportedLenses(evidence),
    revertRed: evidence?.revertRed ?? null,
    defects: verdict === null ? null : { blocking: verdict.blocking, advisory: verdict.advisory },
    gates: state.gates.answers.map(({ gate, choice, grade }) => ({ gate, choice, grade })),
    dispatches: told.dispatches,
    resumed: told.resumed,
    toolUse: toolUseOf(engine, folder, told.leases),
    tree: state.checkpoint,
    delivery: state.delivery,
    ledger: { seq: tip.seq, sum: tip.sum },
    witness: witnessSays(engine, loaded),
  };
}
