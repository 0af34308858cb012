/**
 * Whether hooks saw every agent begin and end. Only then can it be said what an agent used; where one was not seen,
 * the stage it worked for is named.
 */
import type { ChangeStage } from "../core/stage-names.ts";
import type { Engine } from "./context.ts";
import { readObservedLines } from "./human.ts";
import type { RunFolder } from "./ledger.ts";
import type { SlotLease } from "./report-lines.ts";

export type ToolUse = "complete" | { readonly partial: readonly ChangeStage[] };

const stageOfSlot: Readonly<Record<string, ChangeStage>> = { scout: "GROUNDED", coder: "CODED" };
const stageOrder: readonly ChangeStage[] = ["GROUNDED", "CODED", "VERIFIED"];

/** Of all leases that have ended. A run that handed out nothing has nothing that was not seen. */
export function toolUseOf(engine: Engine, folder: RunFolder, leases: ReadonlyMap<string, SlotLease>): ToolUse {
  const seen = readObservedLines(engine, folder);
  const [started, stopped] = (["started", "stopped"] as const).map(
    (type) => new Set(seen.flatMap((one) => (one.type === type ? [one.lease] : []))),
  ) as [Set<string>, Set<string>];
  const missing = new Set<ChangeStage>();
  for (const [lease, { slot, ended, started: begun, spoken }] of leases) {
    const isWhole = (begun || started.has(lease)) && (spoken || stopped.has(lease));
    if (ended && !isWhole) missing.add(stageOfSlot[slot] ?? "VERIFIED");
  }
  return missing.size === 0 ? "complete" : { partial: stageOrder.filter((stage) => missing.has(stage)) };
}
