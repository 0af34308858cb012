/** What an original's run says of itself: its log first, its `state.json` only where the log has no word. */
import { isRecord, parseTolerant } from "../core/tolerant-json.ts";
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
  if (!text.trimStart().startsWith("{")) return null;
  const parsed = parseTolerant(Buffer.from(text, "utf8"));
  return parsed.ok && isRecord(parsed.value) ? parsed.value : null;
}

function* linesOf(text: string): Iterable<string> {
  for (const line of text.replace(/^\uFEFF/, "").split("\n")) if (line.trim() !== "") yield line;
}
