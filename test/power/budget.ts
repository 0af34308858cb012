/** `POWER=all` (npm run power) tries everything; else a seed picks for as long as a test run can spare. */
import fc from "fast-check";
import { seeded } from "../crash/points.ts";

export const isAll = process.env.POWER === "all";
// The one seed of a test run: the set-up read ATLAS_SEED before it scrubbed the environment.
export const seed = fc.readConfigureGlobal().seed ?? 1;
export const random = seeded(seed);

/** Whether `ms` have passed since; never, where everything is tried. */
export function deadline(ms: number): () => boolean {
  const begun = performance.now();
  return () => !isAll && performance.now() - begun > ms;
}

export function shuffled<T>(list: readonly T[]): readonly T[] {
  const left = [...list];
  const drawn: T[] = [];
  while (left.length > 0) drawn.push(...left.splice(Math.floor(random() * left.length), 1));
  return drawn;
}

export function drawnOf<T>(list: readonly T[], count: number): readonly T[] {
  return Array.from({ length: count }, () => list[Math.floor(random() * list.length)] as T);
}
