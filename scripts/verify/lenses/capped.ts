import type { Defect } from "../defect.ts";

/** What one lens says of one change at most; more would bury what the others say. */
export const defectsMax = 20;

/** The first twenty, and where there are more one further defect that counts the rest. */
export function capped(defects: readonly Defect[], more: { readonly id: string; readonly what: string }): Defect[] {
  const kept = defects.slice(0, defectsMax);
  const last = kept.at(-1);
  const rest = defects.length - kept.length;
  if (last === undefined || rest === 0) return kept;
  const { category, severity } = last;
  return [...kept, { id: more.id, category, severity, location: ".", fix: `${rest} more ${more.what}.` }];
}
