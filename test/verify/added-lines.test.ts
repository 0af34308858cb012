import fc from "fast-check";
import { expect, it } from "vitest";
import { addedLines } from "../../scripts/verify/added-lines.ts";

const texts = (before: string, after: string) => addedLines(before, after).map(({ line, text }) => `${line} ${text}`);

it("only lines that were not there before, with their place afterwards; line ends do not count", () => {
  expect(texts("a\nb\nc\n", "a\nx\nb\nc\ny\n")).toEqual(["2 x", "5 y"]);
  expect(texts("a\r\nb\r\n", "a\nb\n")).toEqual([]);
  expect(texts("", "one\n")).toEqual(["1 one"]);
  expect(texts("one\n", "")).toEqual([]);
});

it("V-09: a line that looks like a patch's own is a line like any other", () => {
  expect(texts("a\n", "a\n++ b/evil.py\n+++ b/evil.py\n")).toEqual(["2 ++ b/evil.py", "3 +++ b/evil.py"]);
});

it("every line that is new is found, with its own text at its own place, however much changed", () => {
  const line = fc.constantFrom("a", "b", "c", "d");
  const text = fc.array(line, { maxLength: 30 });
  fc.assert(
    fc.property(text, text, (before, after) => {
      const added = addedLines(before.join("\n"), after.join("\n"));
      for (const { line, text } of added) expect(after[line - 1]).toBe(text);
      for (const known of new Set(after)) {
        const more = after.filter((one) => one === known).length - before.filter((one) => one === known).length;
        expect(added.filter(({ text }) => text === known).length).toBeGreaterThanOrEqual(Math.max(0, more));
      }
    }),
  );
});

it("two long texts with nothing in common are compared at once", () => {
  const many = (mark: string) => Array.from({ length: 20_000 }, (_, at) => `${mark} ${at}`).join("\n");
  expect(addedLines(many("a"), many("b"))).toHaveLength(20_000);
});
