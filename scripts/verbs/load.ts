/** The run a deciding verb speaks of: named, or the session's own. */
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import type { Engine } from "../engine/context.ts";
import type { Loaded } from "../engine/ledger.ts";
import { findRuns } from "../engine/runs.ts";
import { selectRun } from "../engine/select.ts";
import type { Arguments } from "./arguments.ts";

/** Refuses `run.unknown`, `run.none`, `run.untrusted`, `run.not_adopted`, and an unreadable ledger by its own code. */
export function loadNamed(engine: Engine, given: Arguments): Result<Loaded, Refusal> {
  const run = given.text("run");
  const chosen = selectRun(engine, findRuns(engine, run === null ? "unfinished" : { only: run }), {
    run,
    newest: false,
  });
  if (!chosen.ok) return chosen;
  const found = chosen.value;
  if (found === null) return refuse("run.none", "there is no unfinished run here", "atlas status --all");
  if (!found.trusted && (found.loaded !== null || found.view.why.startsWith("untrusted"))) {
    return refuse(
      "run.untrusted",
      `run ${found.view.id} was not written by this user's runs`,
      `atlas resume --run ${found.view.id} --trust`,
    );
  }
  if (found.loaded !== null) return ok(found.loaded);
  if (found.original !== null && found.view.resumable) {
    return refuse("run.not_adopted", `run ${found.view.id} is not adopted yet`, `atlas resume --run ${found.view.id}`);
  }
  const why = found.unreadable ?? { code: "ledger.unreadable", reason: found.view.why };
  return refuse(why.code, `run ${found.view.id} cannot be read: ${why.reason}`, "atlas doctor");
}
