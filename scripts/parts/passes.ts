/** Refine passes: two at most. A third is not a value this type has. */
export type Pass = 0 | 1 | 2;
export const PASSES_MAX = 2;

export function nextPass(pass: Pass): Pass | null {
  return pass === 0 ? 1 : pass === 1 ? 2 : null;
}

/** A count from elsewhere (an adopted log) as a pass; more than two stays two. */
export function asPass(count: number): Pass {
  return count <= 0 ? 0 : count === 1 ? 1 : 2;
}
