/** What an original's run says of itself: its log first, its `state.json` only where the log has no word. */
import { isSpokenStage } from "./spoken.ts";

export interface ForeignWord {
  /** The last stage the log proves; null when only unknown names stand there. */
  readonly stage: string | null;
  readonly refine: number;
  readonly done: readonly string[];
  readonly terminal: boolean;
  readonly lastTs: string | null;
}

const undoneByRefine = new Set(["CODED", "VERIFIED"]);
const depthMax = 256;
const shortTextChars = 4096;
const terminalStages = new Set(["OUTPUT", "DONE"]);

/** First parseable object of a log, or null: tells whose log it is (ours has a `sum`). */
export function firstObject(text: string): Readonly<Record<string, unknown>> | null {
  for (const line of linesOf(text)) {
    const value = objectOf(line);
    if (value !== null) return value;
  }
  return null;
}

/** True when this log was sealed by us. */
export function isSealed(first: Readonly<Record<string, unknown>> | null): boolean {
  return first !== null && typeof first.sum === "string" && typeof first.prev === "string";
}

/**
 * Folds an original's log. A torn last line counts when it names the stage that `state.json` shows: both were
 * written for the same step. Null: neither file names a stage, so nothing can be said.
 */
export function foldForeign(log: string, state: Readonly<Record<string, unknown>> | null): ForeignWord | null {
  const lines = [...linesOf(log)];
  let seen = 0;
  let last: unknown = null;
  let lastTs: string | null = null;
  let refine = 0;
  let done: string[] = [];
  const take = (stage: unknown): void => {
    last = stage;
    if (stage === "REFINE") {
      refine += 1;
      done = done.filter((name) => !undoneByRefine.has(name));
    } else if (isSpokenStage(stage) && !done.includes(stage)) done.push(stage);
  };
  for (const line of lines) {
    const value = objectOf(line);
    if (value === null || !("stage" in value)) continue;
    seen += 1;
    take(value.stage);
    if (typeof value.ts === "string") lastTs = value.ts;
  }
  const shown = state?.current_state;
  const tail = lines.at(-1) ?? "";
  if (isSpokenStage(shown)) {
    if (seen === 0) take(shown);
    else if (objectOf(tail) === null && shown !== last && new RegExp(`"stage": ?"${shown}"`).test(tail)) take(shown);
  }
  if (seen === 0 && last === null) return null;
  const counted = state?.refine_passes;
  if (typeof counted === "number" && Number.isSafeInteger(counted)) refine = Math.max(refine, counted);
  const terminal = typeof last === "string" && terminalStages.has(last);
  return { stage: typeof last === "string" ? last : null, refine, done, terminal, lastTs };
}

export function objectOf(text: string): Readonly<Record<string, unknown>> | null {
  if (!text.trimStart().startsWith("{") || isTooDeep(text)) return null;
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** A parser takes its time over a megabyte of "[". Brackets in texts are counted too: no honest line has so many. */
function isTooDeep(text: string): boolean {
  if (text.length < shortTextChars) return false;
  let depth = 0;
  for (let at = 0; at < text.length && depth <= depthMax; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 0x5b || char === 0x7b) depth += 1;
    else if (char === 0x5d || char === 0x7d) depth -= 1;
  }
  return depth > depthMax;
}

function* linesOf(text: string): Iterable<string> {
  for (const line of text.replace(/^\uFEFF/, "").split("\n")) if (line.trim() !== "") yield line;
}
