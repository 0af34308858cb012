import type { ChangedFile } from "../changed-file.ts";
import { type LensAnswer, ran, skipped } from "../lens.ts";
import { isResidue } from "../scope.ts";
import { isDocumentation } from "./path-words.ts";

/** MEDIUM TEST-ADEQUACY where sources changed and no test did. A deleted test is no changed one; documentation is no source. */
export function testsChangedLens(files: readonly ChangedFile[]): LensAnswer {
  if (files.some(({ isTest, status }) => isTest && status !== "D")) return ran([]);
  const sources = files.filter(({ path, isTest }) => !isTest && !isDocumentation(path) && !isResidue(path));
  if (sources.length === 0) return skipped("no source was changed");
  const fix = "No test was added or changed. Add one that fails without this change.";
  return ran([{ id: "LD-tests", category: "TEST-ADEQUACY", severity: "MEDIUM", location: "tests", fix }]);
}
