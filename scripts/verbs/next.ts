import { refuse } from "../core/result.ts";
import { checkForeign } from "../engine/adopt.ts";
import { tokenOf } from "../engine/change-run.ts";
import type { Engine } from "../engine/context.ts";
import { readObserved } from "../engine/human.ts";
import { checkPlace } from "../engine/moved.ts";
import { checkClaim, ownership, refuseOwned } from "../engine/owning.ts";
import { conclude } from "../engine/proceed.ts";
import type { Arguments } from "./arguments.ts";
import { loadNamed } from "./load.ts";
import { done, type Outcome, refused, refusedBy } from "./outcome.ts";
import { sayInstruction } from "./say.ts";
import { showRun } from "./shown.ts";

/** Reprints the live instruction; hands nothing out. */
export function next(engine: Engine, given: Arguments): Outcome {
  const read = loadNamed(engine, given);
  if (!read.ok) return refused(read.error);
  const loaded = read.value;
  const claim = given.text("claim");
  const { head } = loaded.state;
  if (!loaded.headline.terminal) {
    if (claim !== null) {
      const claimed = checkClaim(engine, loaded, claim);
      if (!claimed.ok) return refused(claimed.error);
    } else {
      const own = ownership(engine, head, null);
      if (own === "foreign") {
        return refusedBy(refuseOwned(loaded));
      }
      if (own !== "ours") {
        const again = { do: "run", command: `atlas resume --run ${loaded.folder.id}` } as const;
        return done({ run: loaded.folder.id, next: again }, sayInstruction(again));
      }
    }
    const here = checkPlace(engine, loaded);
    if (!here.ok) return refused(here.error);
    const foreign = checkForeign(engine, loaded);
    if (!foreign.ok) return refused(foreign.error);
  } else if (claim !== null && claim !== tokenOf(loaded)) {
    return refusedBy(
      refuse("claim.stale", "the claim given is not the run's claim any more; nothing was changed", "atlas status"),
    );
  }
  // A started agent is awaited: printing its dispatch once more would start a second one.
  const started = readObserved(engine, loaded.folder).flatMap((seen) => (seen.type === "started" ? [seen.lease] : []));
  const concluded = conclude(engine, loaded, [], new Set(started));
  return concluded.ok ? showRun(engine, concluded.value) : refused(concluded.error);
}
