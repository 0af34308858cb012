/** The syntax floor: a file that parsed before the change, or is new, must parse after it. Tests are looked at too. */
import type { ChangedFile } from "../changed-file.ts";
import type { Defect } from "../defect.ts";
import { type LensAnswer, ran, ranPartly, skipped } from "../lens.ts";
import { capped } from "./capped.ts";
import { isTemplate, type Language, languageOf } from "./language.ts";
import type { Parsed } from "./parsed.ts";
import { isExample } from "./path-words.ts";
import { Unlooked } from "./unlooked.ts";

/** Parses, never executes. Gives `unread` where it cannot look. */
export type ParseText = (language: Language, path: string, text: string) => Parsed;

/** HIGH DOES-IT-RUN for each file that no longer parses. What it could not look at stands in the reason. */
export function syntaxLens(files: readonly ChangedFile[], parse: ParseText): LensAnswer {
  const defects: Defect[] = [];
  const unlooked = new Unlooked();
  let looked = 0;
  for (const file of files) {
    if (file.status === "D" || isExample(file.path)) continue;
    const spoken = languageOf(file.path, file.after ?? "");
    if (spoken === null) continue;
    if (file.after === null) {
      unlooked.add(file.isCut ? "too large to be read" : "no UTF-8 text");
      continue;
    }
    const now = parse(spoken.language, file.path, file.after);
    if (now.is === "unread") unlooked.add(now.why);
    else looked += 1;
    if (now.is !== "refused" || isTemplate(file.path, file.after)) continue;
    const before = standingBefore(file, spoken, parse);
    if (before === "unknown") unlooked.add("it does not parse, and whether it did before is not known");
    if (before === "held") defects.push(defectOf(file.path, now.line, defects.length + 1));
  }
  const reason = unlooked.sentence();
  if (looked === 0) return skipped(reason ?? "no changed file is of a language that can be parsed");
  const more = { id: `SYN${defects.length}`, what: "files do not parse" };
  const found = capped(defects, more);
  return reason === null ? ran(found) : ranPartly(found, reason);
}

/** `held`: it must parse now. `free`: it did not before either, or is a new file nobody holds to one form. */
function standingBefore(
  { status, path, before }: ChangedFile,
  spoken: { readonly language: Language; readonly whenNew: boolean },
  parse: ParseText,
): "held" | "free" | "unknown" {
  if (status === "A") return spoken.whenNew ? "held" : "free";
  if (before === null) return "unknown";
  const was = parse(spoken.language, path, before);
  if (was.is === "unread") return "unknown";
  return was.is === "fine" ? "held" : "free";
}

function defectOf(path: string, line: number | null, at: number): Defect {
  return {
    id: `SYN${at}`,
    category: "DOES-IT-RUN",
    severity: "HIGH",
    location: line === null ? path : `${path}:${line}`,
    fix: "The file does not parse. Mend its syntax at or before this line.",
  };
}
