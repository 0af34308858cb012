/** A run's report, read from its ledger and artifacts. */
import type { EventBase } from "../core/kind.ts";
import { ORIGIN } from "../core/line.ts";
import type { ChangeEvent } from "../kinds/change/events.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import type { Answer } from "../parts/gate.ts";
import type { Pass } from "../parts/passes.ts";
import type { Engine } from "./context.ts";
import { readEvidence } from "./judge.ts";
import type { Loaded } from "./ledger.ts";
import { readLog } from "./log.ts";
import { readPacket } from "./packets.ts";

export interface Report {
  readonly v: 1;
  readonly run: string;
  readonly kind: "change";
  readonly label: string | null;
  readonly reasons: readonly string[];
  readonly asked: string | null;
  readonly assumptions: readonly string[];
  readonly stages: readonly { readonly stage: string; readonly seq: number }[];
  readonly commands: readonly {
    readonly pass: number;
    readonly ending: string;
    readonly code: number | null;
    readonly log: string;
  }[];
  readonly gates: readonly Pick<Answer, "gate" | "choice" | "grade">[];
  readonly dispatches: readonly { readonly role: string; readonly lease: string; readonly end: string }[];
  readonly resumed: readonly { readonly epoch: number; readonly why: string; readonly seq: number }[];
  readonly tree: string | null;
  readonly ledger: { readonly seq: number; readonly sum: string };
}

export function reportOf(engine: Engine, loaded: Loaded<ChangeState>): Report {
  const { state, tip, folder } = loaded;
  const read = readLog<EventBase>(engine.fs, folder.ledger, ORIGIN);
  const lines = read === null || "bad" in read ? [] : read.chain.lines;
  const dispatches = new Map<string, { role: string; lease: string; end: string }>();
  const resumed: { epoch: number; why: string; seq: number }[] = [];
  for (const line of lines) {
    for (const event of line.events as readonly ChangeEvent[]) {
      if (event.type === "leased") dispatches.set(event.lease, { role: event.role, lease: event.lease, end: "live" });
      const out = event.type === "lease-ended" ? dispatches.get(event.lease) : undefined;
      if (out !== undefined && event.type === "lease-ended") out.end = event.why;
      if (event.type === "claimed" && event.epoch > 1)
        resumed.push({ epoch: event.epoch, why: event.why, seq: line.seq });
    }
  }
  const passes = ([0, 1, 2] as Pass[]).filter((pass) => `evidence.${pass}` in state.filled);
  return {
    v: 1,
    run: folder.id,
    kind: "change",
    label: state.label,
    reasons: state.reasons,
    asked: readPacket(engine, loaded)?.intent ?? null,
    assumptions: state.assumed,
    stages: lines.flatMap((line) => (line.stage === undefined ? [] : [{ stage: line.stage, seq: line.seq }])),
    commands: passes.map((pass) => {
      const { command } = readEvidence(engine, loaded, pass)!;
      return { pass, ending: command.ending, code: command.code ?? null, log: command.log.sha256 };
    }),
    gates: state.gates.answers.map(({ gate, choice, grade }) => ({ gate, choice, grade })),
    dispatches: [...dispatches.values()],
    resumed,
    tree: state.checkpoint,
    ledger: { seq: tip.seq, sum: tip.sum },
  };
}

/** Fields in which a written report is not what the ledger says now; `unreadable` where it is no report at all. */
export function differences(written: string, made: Report): readonly string[] {
  let before: unknown;
  try {
    before = JSON.parse(written);
  } catch {
    return ["unreadable"];
  }
  if (typeof before !== "object" || before === null) return ["unreadable"];
  const [was, is] = [before as Record<string, unknown>, { ...made } as Record<string, unknown>];
  const known = Object.keys(is).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  return [...known, ...(Object.keys(was).some((name) => !(name in is)) ? ["unknown field"] : [])];
}
