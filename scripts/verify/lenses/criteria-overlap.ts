/** Whether what was added has a word of each success criterion. A heuristic: never above MEDIUM. */
import { quoted } from "../../core/quote.ts";
import type { ChangedFile } from "../changed-file.ts";
import type { Defect } from "../defect.ts";
import { type LensAnswer, ran, ranPartly, skipped } from "../lens.ts";
import { Unlooked } from "./unlooked.ts";
import { wordsOf } from "./words.ts";

/** A criterion none of whose words stands on an added line or in a changed path; one of empty words only is silent. */
export function criteriaOverlapLens(files: readonly ChangedFile[], criteria: readonly string[]): LensAnswer {
  const changed = files.filter(({ status }) => status !== "D");
  if (!changed.some(({ added }) => added.length > 0)) return skipped("no line was added");
  const unlooked = new Unlooked();
  const present = new Set<string>();
  for (const { path, added, isCut } of changed) {
    if (isCut) unlooked.add("too large to be read");
    for (const word of wordsOf(path)) present.add(word);
    for (const { text } of added) for (const word of wordsOf(text)) present.add(word);
  }
  const defects = criteria.flatMap((criterion, index): Defect[] => {
    const words = [...wordsOf(criterion)];
    if (words.length === 0 || words.some((word) => present.has(word))) return [];
    return [
      {
        id: `RC${index + 1}`,
        category: "REQUIREMENTS-COVERAGE",
        severity: "MEDIUM",
        location: `criterion ${index + 1}`,
        fix: `Nothing that was added has a word of this criterion: ${quoted(criterion, 200)}. See that it is met.`,
      },
    ];
  });
  const reason = unlooked.sentence();
  return reason === null ? ran(defects) : ranPartly(defects, reason);
}
