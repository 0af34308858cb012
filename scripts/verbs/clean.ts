import { clean as cleanUp } from "../engine/clean.ts";
import type { Engine } from "../engine/context.ts";
import type { Arguments } from "./arguments.ts";
import { done, type Outcome, refused } from "./outcome.ts";

/** Removes what finished runs left and nobody can need; says what stays, and why. */
export function clean(engine: Engine, given: Arguments): Outcome {
  const dryRun = given.flag("dry-run");
  const cleaned = cleanUp(engine, { dryRun, dropKept: given.text("drop-kept") });
  if (!cleaned.ok) return refused(cleaned.error);
  const { removed, kept, dropped } = cleaned.value;
  const went = dryRun ? "would remove" : "removed";
  const lines = [
    ...removed.map((path) => `${went}: ${path}`),
    ...dropped.map((ref) => `${dryRun ? "would drop" : "dropped"}: ${ref}`),
    ...kept.map(({ path, why }) => `left: ${path} (${why})`),
  ];
  const text = lines.length === 0 ? "nothing to clean" : lines.map(oneLine).join("\n");
  return done({ removed, kept, dropped }, text);
}

function oneLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "?");
}
