import { ok, refuse } from "../core/result.ts";
import type { Engine } from "../engine/context.ts";
import { gradeOfAnswer, requireWord } from "../engine/human.ts";
import { ownership, refuseOwned } from "../engine/owning.ts";
import { findRuns } from "../engine/runs.ts";
import { selectRun } from "../engine/select.ts";
import { transact } from "../engine/transact.ts";
import { markFinished } from "../engine/views.ts";
import type { Arguments } from "./arguments.ts";
import { done, type Outcome, refused, refusedBy } from "./outcome.ts";

/** Ends a run by the human's word. Needs no fold: an unreadable run is marked finished and keeps its bytes. */
export function abandon(engine: Engine, given: Arguments): Outcome {
  const id = given.required("run");
  const chosen = selectRun(engine, findRuns(engine, { only: id }), { run: id, newest: false });
  if (!chosen.ok) return refused(chosen.error);
  const run = chosen.value;
  if (run === null) return refusedBy(refuse("run.unknown", `no run ${id} here`, "atlas status --all"));
  const said = (how: string): Outcome =>
    done({ run: run.view.id, abandoned: true, how }, `abandoned ${run.view.id} (${how}); nothing was deleted`);
  if (run.view.terminal)
    return done({ run: run.view.id, abandoned: false, how: "already finished" }, `${run.view.id} is finished already`);
  // Somebody else's ledger keeps its bytes; so does one that cannot be read.
  if (run.loaded === null || !run.trusted) {
    markFinished(engine, run.folder);
    return said("marked");
  }
  const ended = transact(engine, run.folder, (loaded) => {
    const { head } = loaded.state;
    if (loaded.headline.terminal) return ok(null);
    const own = ownership(engine, head, given.text("claim"));
    if (own === "foreign") {
      if (!given.flag("take-over")) return refuseOwned(loaded);
      const word = requireWord(engine, run.folder, head, "take-over");
      if (!word.ok) return word;
      return ok([{ type: "abandoned", grade: word.value }]);
    }
    return ok([{ type: "abandoned", grade: gradeOfAnswer(engine, run.folder, "", "abandon") }]);
  });
  if (!ended.ok) return refused(ended.error);
  markFinished(engine, run.folder);
  return said("recorded");
}
