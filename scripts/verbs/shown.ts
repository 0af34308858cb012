/** What the deciding verbs print: the run as `status` shows it, the claim, what was done, what is next. */
import type { Engine } from "../engine/context.ts";
import type { RunFolder } from "../engine/ledger.ts";
import type { Proceeded } from "../engine/proceed.ts";
import type { RunView } from "../engine/run-view.ts";
import { findRun } from "../engine/runs.ts";
import { done, type Outcome } from "./outcome.ts";
import { sayInstruction, sayRun } from "./say.ts";

export function showRun(engine: Engine, proceeded: Proceeded, more: Readonly<Record<string, unknown>> = {}): Outcome {
  const { loaded, did, next, claim } = proceeded;
  const view = viewOf(engine, loaded.folder);
  const text = [
    ...(view === null ? [] : [sayRun(view)]),
    ...did.map((line) => `did: ${line}`),
    sayInstruction(next),
  ].join("\n");
  return done({ run: view, epoch: loaded.state.head.epoch, claim, did, ...more, next }, text);
}

function viewOf(engine: Engine, folder: RunFolder): RunView | null {
  return findRun(engine, folder.id)?.view ?? null;
}
