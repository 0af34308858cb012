/** The one order across runs, newest first. Never mtime, never directory order. */

export interface Orderable {
  /** ISO time of the run's last valid line, any number of fraction digits; null or malformed: older than all. */
  readonly ts: string | null;
  readonly graph: boolean;
  readonly id: string;
}

const isoShape = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?Z$/;

/** `YYYY-MM-DDTHH:MM:SS[.fraction]Z`: the only form of time that is taken from a file. */
export function isIsoTime(text: unknown): text is string {
  return typeof text === "string" && isoShape.test(text);
}

/**
 * For `sort`: last line's time descending, then graph before single, then id descending (by code unit).
 * A total order: 0 only for runs alike in all three.
 */
export function compareRuns(a: Orderable, b: Orderable): number {
  const byTime = compareText(timeKey(b.ts), timeKey(a.ts));
  if (byTime !== 0) return byTime;
  if (a.graph !== b.graph) return a.graph ? -1 : 1;
  return compareText(b.id, a.id);
}

/** Whole seconds and fractions are both written; compared as text, `Z` would sort after `.5Z`. */
function timeKey(ts: string | null): string {
  const match = ts === null ? null : isoShape.exec(ts);
  return match === null ? "" : `${match[1]}.${(match[2] ?? "").padEnd(9, "0")}`;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
