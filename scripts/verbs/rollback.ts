import { ORIGIN } from "../core/line.ts";
import { ok, refuse, UsageError } from "../core/result.ts";
import { changeOf, decideAs, tokenOf } from "../engine/change-run.ts";
import type { Engine } from "../engine/context.ts";
import { readLog } from "../engine/log.ts";
import { checkClaim } from "../engine/owning.ts";
import { proceed } from "../engine/proceed.ts";
import type { ChangeEvent } from "../kinds/change/events.ts";
import { change } from "../kinds/change/kind.ts";
import type { Arguments } from "./arguments.ts";
import { loadNamed } from "./load.ts";
import { type Outcome, refused, refusedBy } from "./outcome.ts";
import { showRun } from "./shown.ts";

/** An isolated tree back to the checkpoint recorded at or before a line. What stood there is kept under a ref first. */
export async function rollback(engine: Engine, given: Arguments): Promise<Outcome> {
  const to = given.required("to");
  if (!/^[1-9]\d{0,8}$/.test(to)) throw new UsageError("--to takes a line's number", "atlas report", "usage.to");
  const read = loadNamed(engine, given);
  if (!read.ok) return refused(read.error);
  const run = changeOf(read.value);
  if (!run.ok) return refused(run.error);
  const claim = given.text("claim");
  const claimed = checkClaim(engine, run.value, claim);
  if (!claimed.ok) return refused(claimed.error);
  const { folder } = run.value;
  const log = readLog<ChangeEvent>(engine.fs, folder.ledger, ORIGIN);
  const lines = log === null || "bad" in log ? [] : log.chain.lines;
  // Folded, not searched: an imported product is a checkpoint, and so is what an earlier rollback went back to.
  const { checkpoint: tree } = lines
    .filter((line) => line.seq <= Number(to))
    .reduce(
      (state, line) => line.events.reduce((now, event) => change.apply(now, event, line), state),
      change.initial(),
    );
  if (tree === null) {
    return refusedBy(refuse("rollback.no_checkpoint", `no checkpoint stands at or before line ${to}`, "atlas report"));
  }
  const decided = decideAs(engine, folder, claim, () => ok({ do: "rollback", to: Number(to), tree }));
  if (!decided.ok) return refused(decided.error);
  const proceeded = await proceed(engine, folder, { claim: tokenOf(decided.value.loaded) });
  if (!proceeded.ok) return refused(proceeded.error);
  return showRun(engine, { ...proceeded.value, did: [`rolled back to line ${to}`, ...proceeded.value.did] });
}
