import { changeOf, tokenOf } from "../engine/change-run.ts";
import { beginCommand } from "../engine/command-run.ts";
import { type Engine, watchSeconds } from "../engine/context.ts";
import { readEvidence } from "../engine/judge.ts";
import type { Loaded } from "../engine/ledger.ts";
import { checkClaim } from "../engine/owning.ts";
import { type Proceeded, proceed } from "../engine/proceed.ts";
import { type ChangeState, wantedCommand } from "../kinds/change/state.ts";
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
  const token = tokenOf(run.value);
  const timeoutMs = timeout === null ? null : timeout * 1000;
  const deadlineMs = performance.now() + (given.flag("background") ? 0 : watchSeconds(engine) * 1000);
  const leftMs = (): number => Math.max(0, Math.round(deadlineMs - performance.now()));
  const did: string[] = [];
  let loaded = run.value;
  // A pass may need more than one command: the next one begins as soon as it is known to be wanted.
  for (;;) {
    if (mayBeginCommand(loaded.state)) {
      const begun = await beginCommand(engine, loaded, token, timeoutMs);
      if (!begun.ok) return refused(begun.error);
    }
    const proceeded = await proceed(engine, loaded.folder, { claim: token, waitMs: leftMs(), onlyNew: true });
    if (!proceeded.ok) return refused(proceeded.error);
    did.push(...proceeded.value.did);
    loaded = proceeded.value.loaded as Loaded<ChangeState>;
    if (!mayBeginCommand(loaded.state) || leftMs() === 0) return shown(engine, { ...proceeded.value, did }, loaded);
  }
}

function mayBeginCommand(state: ChangeState): boolean {
  return state.phase.at === "verify" && state.effect === null && wantedCommand(state) !== null;
}

function shown(engine: Engine, proceeded: Proceeded, after: Loaded<ChangeState>): Outcome {
  const pass = "pass" in after.state.phase ? after.state.phase.pass : 0;
  const evidence =
    readEvidence(engine, after, pass) ?? (pass > 0 ? readEvidence(engine, after, (pass - 1) as 0 | 1) : null);
  return showRun(engine, proceeded, { evidence });
}
