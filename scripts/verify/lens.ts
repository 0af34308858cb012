/** A lens looks at one side of a change. It says `ran`, `skipped(reason)` or `failed`, never nothing. */
import type { Defect } from "./defect.ts";
import type { LensEvidence } from "./evidence.ts";

export const lensNames = [
  "syntax",
  "debug-tokens",
  "tests-changed",
  "criteria-overlap",
  "path-grounding",
  "environment",
  "build-rewrote",
  "sast",
  "undefined-names",
  "advisory-lint",
] as const;
export type LensName = (typeof lensNames)[number];

/** What a lens answers; the time it took is added by whoever ran it. */
export type LensAnswer = Omit<LensEvidence, "ms">;

export function ran(defects: readonly Defect[]): LensAnswer {
  return { status: "ran", defects };
}

/** Ran on a part of what there was: `reason` says which part it did not look at. */
export function ranPartly(defects: readonly Defect[], reason: string): LensAnswer {
  return { status: "ran", defects, reason };
}

export function skipped(reason: string): LensAnswer {
  return { status: "skipped", reason, defects: [] };
}

export function failed(reason: string): LensAnswer {
  return { status: "failed", reason, defects: [] };
}
