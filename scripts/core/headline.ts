/**
 * What can be said of a run from its lines alone, whatever its kind: the few words of the pointer and of a list.
 * Reads no kind's own events, so it is also right for a kind or a version this build does not know.
 */
import { applyHead, type Head, UNBORN } from "./head.ts";
import type { Line } from "./line.ts";

export interface Headline {
  readonly head: Head;
  /** The last completed stage; null before the first. */
  readonly stage: string | null;
  /** Lines that complete REFINE: the authoritative count. */
  readonly refinePasses: number;
  /** Stages that stand now: a REFINE takes the later ones back. */
  readonly done: readonly string[];
  readonly terminal: boolean;
  readonly lastTs: string | null;
}

export const BLANK: Headline = { head: UNBORN, stage: null, refinePasses: 0, done: [], terminal: false, lastTs: null };

const undoneByRefine = new Set(["CODED", "VERIFIED"]);

/** Throws `IllegalEvent` when the head's own history is illegal. */
export function applyToHeadline(
  before: Headline,
  line: Pick<Line<{ readonly type: string }>, "stage" | "ts" | "sum" | "events">,
): Headline {
  let head = before.head;
  let terminal = before.terminal;
  for (const event of line.events) {
    head = applyHead(head, event, line);
    // Every kind ends with one of these two words; see docs/words.md, terminal.
    if (event.type === "abandoned" || event.type === "ended") terminal = true;
  }
  const stage = line.stage ?? before.stage;
  const refinePasses = before.refinePasses + (line.stage === "REFINE" ? 1 : 0);
  let done = before.done;
  if (line.stage === "REFINE") done = done.filter((name) => !undoneByRefine.has(name));
  else if (line.stage !== undefined && !done.includes(line.stage)) done = [...done, line.stage];
  return { head, stage, refinePasses, done, terminal, lastTs: line.ts };
}
