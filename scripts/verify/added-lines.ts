import { diffArrays } from "diff";
import type { AddedLine } from "./changed-file.ts";

/** Beyond so many edits lines are compared by count, which still finds every line that is new. */
const editsMax = 4000;

/** Lines of `after` that are not carried over from `before`. Line ends do not count. */
export function addedLines(before: string, after: string): readonly AddedLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const parts = diffArrays(old, now, { maxEditLength: editsMax }) as ReturnType<typeof diffArrays<string>> | undefined;
  if (parts === undefined) return byCount(old, now);
  const added: AddedLine[] = [];
  let line = 1;
  for (const part of parts) {
    if (part.removed === true) continue;
    if (part.added === true) added.push(...part.value.map((text, index) => ({ line: line + index, text })));
    line += part.value.length;
  }
  return added;
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** A line is carried over as often as it stood there before. */
function byCount(old: readonly string[], now: readonly string[]): readonly AddedLine[] {
  const left = new Map<string, number>();
  for (const line of old) left.set(line, (left.get(line) ?? 0) + 1);
  return now.flatMap((text, index) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count > 0 ? [] : [{ line: index + 1, text }];
  });
}
