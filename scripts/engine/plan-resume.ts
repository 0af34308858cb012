/** `resume --dry-run`: per thing, what would be adopted, verified, redone or asked, and why. Changes nothing. */
import { ok, type Refusal, type Result } from "../core/result.ts";
import { change } from "../kinds/change/kind.ts";
import { type ChangeState, effectKey } from "../kinds/change/state.ts";
import { checkForeign } from "./adopt.ts";
import type { Engine } from "./context.ts";
import type { Loaded } from "./ledger.ts";
import { type Ownership, ownership } from "./owning.ts";
import { wouldTake } from "./results.ts";
import { type ResumeWish, unreadableRun } from "./resume.ts";
import type { RunView } from "./run-view.ts";
import { findRuns } from "./runs.ts";
import { selectRun } from "./select.ts";

export interface PlanItem {
  readonly act: "adopt" | "verify" | "redo" | "ask" | "keep" | "claim";
  readonly what: string;
  readonly why: string;
}

export function planResume(
  engine: Engine,
  wish: ResumeWish,
): Result<{ readonly run: RunView | null; readonly plan: readonly PlanItem[] }, Refusal> {
  const found = findRuns(engine, wish.run === null ? "unfinished" : { only: wish.run });
  const chosen = selectRun(engine, found, wish);
  if (!chosen.ok) return chosen;
  const run = chosen.value;
  if (run === null) return ok({ run: null, plan: [] });
  const plan: PlanItem[] = [];
  if (!run.trusted && run.view.why.startsWith("untrusted"))
    plan.push({ act: "ask", what: "trust", why: "this user's runs did not write it" });
  if (run.unreadable !== null) return unreadableRun(run, run.unreadable);
  if (run.loaded === null) {
    plan.push({ act: "adopt", what: `run at ${run.view.stage}`, why: "the original's files are read, never written" });
    for (const loss of run.view.losses) plan.push({ act: "ask", what: loss, why: "no file holds it any more" });
  } else {
    if (!checkForeign(engine, run.loaded, run.original).ok)
      plan.push({ act: "ask", what: "readopt", why: "the original's files changed after they were adopted" });
    const own = ownership(engine, run.loaded.state.head, wish.claim);
    if (own === "foreign") plan.push({ act: "ask", what: "take-over", why: "another process owns the run" });
    else plan.push({ act: "claim", what: own === "ours" ? "reattach" : "next epoch", why: `owner is ${own}` });
    if (run.loaded.kind.name === "change") plan.push(...changeItems(engine, run.loaded as Loaded<ChangeState>, own));
  }
  return ok({ run: run.view, plan });
}

function changeItems(engine: Engine, loaded: Loaded<ChangeState>, own: Ownership): readonly PlanItem[] {
  const { state } = loaded;
  const items: PlanItem[] = state.stages.map((stage) => ({ act: "keep", what: stage, why: "recorded as done" }));
  for (const lease of state.leases.live) {
    if (wouldTake(engine, loaded, lease))
      items.push({ act: "adopt", what: lease.slot, why: "its result lies there and passes" });
    else if (own !== "free") items.push({ act: "keep", what: lease.slot, why: "its agent may still be at work" });
    else items.push({ act: "redo", what: lease.slot, why: "its agent's process is gone and left no result" });
  }
  for (const effect of change.owed(state))
    items.push({ act: "verify", what: effectKey(effect), why: "owed; probed first" });
  if (state.gates.open !== null)
    items.push({ act: "ask", what: state.gates.open.gate, why: "only a human answers it" });
  return items;
}
