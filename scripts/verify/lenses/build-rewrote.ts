/** Whether the build left the change as it was judged: what is delivered must be what was tested. */
import { quoted } from "../../core/quote.ts";
import type { Defect } from "../defect.ts";
import { type LensAnswer, ran } from "../lens.ts";
import { isResidue } from "../scope.ts";
import { capped } from "./capped.ts";

/**
 * HIGH for each path that the change touched and the build then rewrote. A file tools leave behind that was not there
 * before the change is nobody's work.
 */
export function buildRewroteLens(
  changed: readonly { readonly path: string; readonly status: string }[],
  rewritten: readonly string[],
): LensAnswer {
  const after = new Set(rewritten);
  const defects = changed
    .filter(({ path, status }) => after.has(path) && !(status === "A" && isResidue(path)))
    .map(
      ({ path }): Defect => ({
        id: `build-rewrote:${quoted(path, 200)}`,
        category: "DOES-IT-RUN",
        severity: "HIGH",
        location: path,
        fix: "The verify command rewrote this file. Leave in it what the command makes of it, or remove it if a tool left it.",
      }),
    );
  return ran(capped(defects, { id: "build-rewrote:more", what: "changed files were rewritten by the verify command" }));
}
