/** Compares a written report with the one that is made now. The written one is data: nothing of it is ever printed. */
import { parseStrictJson } from "../core/json.ts";
import type { Report } from "./report.ts";

export const REPORT_BYTES_MAX = 16 * 1024 * 1024;
const depthMax = 32;

/** Fields that differ, wall times apart; `unreadable` where it is no report at all. Never a word of the written one. */
export function differences(written: Uint8Array, made: Report): readonly string[] {
  const before = parseStrictJson(written, { bytesMax: REPORT_BYTES_MAX, depthMax });
  if (!before.ok || typeof before.value !== "object" || before.value === null || Array.isArray(before.value)) {
    return ["unreadable"];
  }
  const [was, is] = [new Map(Object.entries(before.value)), new Map(Object.entries(made))];
  const known = [...is.keys()].filter((name) => canonical(was.get(name)) !== canonical(is.get(name)));
  return [...known, ...([...was.keys()].some((name) => !is.has(name)) ? ["unknown field"] : [])];
}

/** The order of keys says nothing, and how long something took cannot be recomputed. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (name, inner: unknown) => {
    if (name === "ms") return undefined;
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}
