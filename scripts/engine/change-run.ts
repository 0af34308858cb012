/** A loaded run seen as a change, and decisions on it under the caller's claim. */
import { claimToken } from "../core/head.ts";
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import type { ChangeCommand } from "../kinds/change/decide.ts";
import { change } from "../kinds/change/kind.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { checkForeign } from "./adopt.ts";
import type { Engine } from "./context.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { checkPlace } from "./moved.ts";
import { checkClaim } from "./owning.ts";
import { type Transaction, transact } from "./transact.ts";

export function changeOf(loaded: Loaded): Result<Loaded<ChangeState>, Refusal> {
  if (loaded.kind.name === "change") return ok(loaded as Loaded<ChangeState>);
  return refuse("run.wrong_kind", `run ${loaded.folder.id} is no change run`, "atlas status");
}

/**
 * One decision on the current fold, under the claim: a command of an older epoch is refused, whatever it says. The
 * claim is checked on the very fold the line is appended behind, so a take-over in between loses us the race.
 */
export function decideAs(
  engine: Engine,
  folder: RunFolder,
  claim: string | null,
  command: ChangeCommand | ((loaded: Loaded<ChangeState>) => Result<ChangeCommand, Refusal>),
): Result<Transaction<ChangeState>, Refusal> {
  return transact<ChangeState>(engine, folder, (loaded) => {
    const run = changeOf(loaded);
    if (!run.ok) return run;
    const claimed = checkClaim(engine, loaded, claim);
    if (!claimed.ok) return claimed;
    const here = checkPlace(engine, loaded);
    if (!here.ok) return here;
    const foreign = checkForeign(engine, loaded);
    if (!foreign.ok) return foreign;
    const made = typeof command === "function" ? command(run.value) : ok(command);
    return made.ok ? change.decide(run.value.state, made.value, engine.moment) : made;
  });
}

/** The token of the fold in hand: what every printed command carries. */
export function tokenOf(loaded: Loaded): string {
  return claimToken(loaded.state.head);
}
