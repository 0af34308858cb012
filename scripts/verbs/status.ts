import type { Engine } from "../engine/context.ts";
import { findRuns } from "../engine/runs.ts";
import type { Arguments } from "./arguments.ts";
import { done, type Outcome } from "./outcome.ts";
import { sayRun } from "./say.ts";

/** Unfinished runs of every kind: ours, adoptable and unreadable ones; finished ones counted, with `--all` listed. */
export function status(engine: Engine, given: Arguments): Outcome {
  const found = findRuns(engine, given.flag("all") ? "all" : "unfinished", true);
  const places = found.places.map(({ root, trusted, why }) => ({
    root,
    trusted,
    ...(why === undefined ? {} : { why }),
  }));
  const runs = found.runs.map((run) => run.view);
  const text = [
    ...(runs.length === 0
      ? [`no unfinished run; searched ${found.searched.length === 0 ? "nowhere" : found.searched.join(", ")}`]
      : runs.map(sayRun)),
    ...places.filter((place) => !place.trusted).map((place) => `not read: ${place.root}/.atlas is ${place.why}`),
    `finished: ${found.finished}`,
  ].join("\n");
  return done({ places, searched: found.searched, finished: found.finished, runs }, text);
}
