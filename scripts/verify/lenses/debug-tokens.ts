/** Debug tokens on added lines. A heuristic: never above MEDIUM. */
import { quoted } from "../../core/quote.ts";
import type { AddedLine, ChangedFile } from "../changed-file.ts";
import type { Defect } from "../defect.ts";
import { type LensAnswer, ran, ranPartly, skipped } from "../lens.ts";
import { capped } from "./capped.ts";
import { isProse } from "./path-words.ts";
import { Unlooked } from "./unlooked.ts";

const wordChar = /[\p{L}\p{N}_$]/u;
/** Defining a function of that name is no call of it. */
const defining = /(^|[^\p{L}\p{N}_$])(def|function|func|fn|fun|sub|void|macro_rules!) *\*? *$/u;

/**
 * One defect for a line. Markers (`TODO`) count everywhere; calls (`print(`) neither in tests, which may print, nor in
 * prose, which shows code.
 */
export function debugTokensLens(files: readonly ChangedFile[], tokens: readonly string[]): LensAnswer {
  if (tokens.length === 0) return skipped("the packet names no debug tokens");
  const unlooked = new Unlooked();
  const defects: Defect[] = [];
  for (const file of files) {
    if (file.isCut) unlooked.add("too large to be read");
    const wanted = tokens.filter((token) => isMarker(token) || !(file.isTest || isProse(file.path)));
    for (const line of file.added) {
      const token = wanted.find((one) => holds(line, one));
      if (token !== undefined) defects.push(defectOf(file.path, line.line, token, defects.length + 1));
    }
  }
  const found = capped(defects, { id: `LD${defects.length}`, what: "added lines hold debug tokens" });
  const reason = unlooked.sentence();
  return reason === null ? ran(found) : ranPartly(found, reason);
}

function isMarker(token: string): boolean {
  return /^\p{Lu}+$/u.test(token);
}

/** The token as a token: no part of a longer word, no method of that name, no definition of it. */
function holds({ text }: AddedLine, token: string): boolean {
  if (token === "") return false;
  for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1)) {
    const before = text[at - 1] ?? "";
    const after = text[at + token.length] ?? "";
    if (wordChar.test(token[0] ?? "") && wordChar.test(before)) continue;
    if (wordChar.test(token.at(-1) ?? "") && wordChar.test(after)) continue;
    if (isMarker(token)) return true;
    const isMethod = before === "." && !token.includes(".");
    if (!isMethod && !defining.test(text.slice(Math.max(0, at - 40), at))) return true;
  }
  return false;
}

function defectOf(path: string, line: number, token: string, at: number): Defect {
  return {
    id: `LD${at}`,
    category: "CODE-QUALITY",
    severity: "MEDIUM",
    location: `${path}:${line}`,
    fix: `Take ${quoted(token)} out of this line, unless it belongs to what was asked for.`,
  };
}
