import { changeOf, tokenOf } from "../engine/change-run.ts";
import { beginCommand } from "../engine/command-run.ts";
import { type Engine, watchSeconds } from "../engine/context.ts";
import { readEvidence } from "../engine/judge.ts";
import type { Loaded } from "../engine/ledger.ts";
import { checkClaim } from "../engine/owning.ts";
import { proceed } from "../engine/proceed.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import type { Arguments } from "./arguments.ts";
import { loadNamed } from "./load.ts";
import { type Outcome, refused } from "./outcome.ts";
import { showRun } from "./shown.ts";

const timeoutSecondsMax = 86_400;

/** Runs the frozen command once a pass, watches it, records what it left. Asked again, it attaches. */
export async function verify(engine: Engine, given: Arguments): Promise<Outcome> {
  const read = loadNamed(engine, given);
  if (!read.ok) return refused(read.error);
  const run = changeOf(read.value);
  if (!run.ok) return refused(run.error);
  const claim = given.text("claim");
  const claimed = checkClaim(engine, run.value, claim);
  if (!claimed.ok) return refused(claimed.error);
  const timeout = given.seconds("timeout", timeoutSecondsMax);
  const { state } = run.value;
  const token = tokenOf(run.value);
  if (state.phase.at === "verify" && state.hasCommand && state.effect === null) {
    const begun = await beginCommand(engine, run.value, token, timeout === null ? null : timeout * 1000);
    if (!begun.ok) return refused(begun.error);
  }
  const waitMs = given.flag("background") ? 0 : watchSeconds(engine) * 1000;
  const proceeded = await proceed(engine, run.value.folder, { claim: token, waitMs, onlyNew: true });
  if (!proceeded.ok) return refused(proceeded.error);
  const after = proceeded.value.loaded as Loaded<ChangeState>;
  const pass = "pass" in after.state.phase ? after.state.phase.pass : 0;
  const evidence =
    readEvidence(engine, after, pass) ?? (pass > 0 ? readEvidence(engine, after, (pass - 1) as 0 | 1) : null);
  return showRun(engine, proceeded.value, { evidence });
}
