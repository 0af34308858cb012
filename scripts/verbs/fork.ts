import { refuse, UsageError } from "../core/result.ts";
import type { Engine } from "../engine/context.ts";
import { fork } from "../engine/fork.ts";
import { resumeRun } from "../engine/resume.ts";
import { findRun, findRuns } from "../engine/runs.ts";
import { plainResume } from "../engine/start.ts";
import type { Arguments } from "./arguments.ts";
import { type Outcome, refused, refusedBy } from "./outcome.ts";
import { showRun } from "./shown.ts";

/** A new run from lines 1 to SEQ of another, also of the good prefix of a broken one. */
export async function forkVerb(engine: Engine, given: Arguments): Promise<Outcome> {
  const id = given.required("run");
  const at = given.required("at");
  if (!/^[1-9]\d{0,8}$/.test(at)) throw new UsageError("--at takes a line's number", "atlas doctor", "usage.at");
  const parent = findRun(engine, id);
  if (parent === null) return refusedBy(refuse("run.unknown", "no run of that id here", "atlas status --all"));
  if (!parent.trusted) {
    return refusedBy(
      refuse("run.untrusted", `run ${id} was not written by this user's runs`, `atlas resume --run ${id} --trust`),
    );
  }
  const forked = fork(engine, parent.folder, Number(at));
  if (!forked.ok) return refused(forked.error);
  const found = findRuns(engine, { only: forked.value.id });
  const [run] = found.runs;
  if (run === undefined) return refusedBy(refuse("run.unknown", "the fork is gone", "atlas status --all"));
  const resumed = await resumeRun(engine, found, run, plainResume);
  return resumed.ok ? showRun(engine, resumed.value) : refused(resumed.error);
}
