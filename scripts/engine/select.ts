/** Which run is meant. Never by mtime, never by directory order. */
import { isMaskedId, isRunId } from "../core/ids.ts";
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import type { Engine } from "./context.ts";
import { type Found, type FoundRun, maskedId } from "./runs.ts";

/**
 * The named run; else the session's own (owned or last claimed by it, or adopted with the session's id); else the only
 * one that may be resumed; else `resume.ambiguous` with the list. Null: there is nothing to resume.
 */
export function selectRun(
  engine: Engine,
  found: Found,
  wish: { readonly run: string | null; readonly newest: boolean },
): Result<FoundRun | null, Refusal> {
  if (wish.run !== null) return named(found, wish.run);
  const open = found.runs.filter((run) => !run.view.terminal);
  const { session } = engine.self;
  const own = session === null ? [] : open.filter((run) => isOf(run, session));
  const [first] = own;
  if (first !== undefined) return ok(first);
  const resumable = open.filter((run) => run.view.resumable);
  if (resumable.length === 1) return ok(resumable[0] as FoundRun);
  if (resumable.length > 1) {
    if (wish.newest) return ok(resumable[0] as FoundRun);
    const list = resumable.map((run) => run.view.id).join(", ");
    return refuse(
      "resume.ambiguous",
      `${resumable.length} runs may be resumed, newest first: ${list}. Ask the user which`,
      `atlas resume --run ${resumable[0]?.view.id}`,
    );
  }
  // Living owners, untrusted and newer ledgers are no choice of ours, but they are not "nothing" either.
  return ok(open.find((run) => run.unreadable === null || run.unreadable.code === "ledger.newer") ?? null);
}

function isOf(run: FoundRun, session: string): boolean {
  return run.view.id === session || run.view.owner?.session === session;
}

/** `#<8 hex>` is the masked form of an id that may not be spoken. */
function named(found: Found, wish: string): Result<FoundRun, Refusal> {
  if (!isRunId(wish) && !isMaskedId(wish)) {
    return refuse("run.bad_id", "that is not a run id", "atlas status --all");
  }
  const run = found.runs.find(({ view }) => view.id === wish || maskedId(view.id) === wish);
  if (run !== undefined) return ok(run);
  const searched = found.searched.length === 0 ? "nowhere" : found.searched.join(", ");
  return refuse("run.unknown", `no run ${wish} in ${searched}`, "atlas status --all");
}
