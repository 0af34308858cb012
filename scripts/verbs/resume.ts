import type { Engine } from "../engine/context.ts";
import { planResume } from "../engine/plan-resume.ts";
import type { ResumeWish } from "../engine/resume.ts";
import { resumeWaiting } from "../engine/waiting.ts";
import type { Arguments } from "./arguments.ts";
import { done, type Outcome, refused } from "./outcome.ts";
import { showRun } from "./shown.ts";

const waitSecondsMax = 3600;

/** Finds, claims or reattaches, settles what is owed, prints the next instruction. */
export async function resumeVerb(engine: Engine, given: Arguments): Promise<Outcome> {
  const wish: ResumeWish = {
    run: given.text("run"),
    claim: given.text("claim"),
    newest: given.flag("newest"),
    takeOver: given.flag("take-over"),
    trust: given.flag("trust"),
    readopt: given.flag("readopt"),
    redo: given.text("redo"),
    waitMs: (given.seconds("wait", waitSecondsMax) ?? 0) * 1000,
    headless: given.flag("headless"),
  };
  if (given.flag("dry-run")) {
    const planned = planResume(engine, wish);
    if (!planned.ok) return refused(planned.error);
    const { run, plan } = planned.value;
    const lines = plan.map((item) => `${item.act} ${item.what}: ${item.why}`);
    return done({ run, plan }, run === null ? "nothing to resume" : [`would resume ${run.id}`, ...lines].join("\n"));
  }
  const outcome = await resumeWaiting(engine, wish);
  if (!outcome.ok) return refused(outcome.error);
  if (outcome.value.run !== null) return showRun(engine, outcome.value.run);
  const { unreadable, searched, notRead } = outcome.value;
  const lines = unreadable.map((run) => `unreadable: ${run.id}: ${run.why}; atlas doctor explains`);
  return done(
    {
      run: null,
      ...(unreadable.length === 0 ? {} : { unreadable }),
      searched,
      ...(notRead.length === 0 ? {} : { not_read: notRead }),
    },
    [
      `nothing to resume; searched ${searched.length === 0 ? "nowhere" : searched.join(", ")}`,
      ...lines,
      ...notRead.map(({ root, why }) => `not read: ${root}/.atlas is ${why}`),
    ].join("\n"),
  );
}
