/** What the deciding verbs print: the run as `status` shows it, the claim, what was done, what is next. */
import type { Engine } from "../engine/context.ts";
import { acknowledge } from "../engine/heard.ts";
import type { ReadOriginal } from "../engine/originals.ts";
import type { Proceeded } from "../engine/proceed.ts";
import { ownView } from "../engine/run-view.ts";
import { originalOf } from "../engine/runs.ts";
import { knowRun } from "../platform/known-runs.ts";
import { stateFolder } from "../platform/sessions.ts";
import { done, type Outcome } from "./outcome.ts";
import { sayInstruction, sayRun } from "./say.ts";

/** The run as the instruction rests on it. `original`: where this command has read it already. */
export interface Shown extends Proceeded {
  readonly original?: ReadOriginal | null;
}

export function showRun(engine: Engine, shown: Shown, more: Readonly<Record<string, unknown>> = {}): Outcome {
  const { loaded, did, next, claim, original = originalOf(engine, loaded) } = shown;
  // Whoever got this far was trusted.
  acknowledge(engine);
  if (!loaded.headline.terminal)
    knowRun(engine.fs, stateFolder(engine.environment), loaded.folder.root, loaded.folder.id);
  const view = ownView(engine, loaded, original, null);
  const text = [sayRun(view), ...did.map((line) => `did: ${line}`), sayInstruction(next)].join("\n");
  return done({ run: view, epoch: loaded.state.head.epoch, claim, did, ...more, next }, text);
}
