import fc from "fast-check";
import { expect, test } from "vitest";
import { JSON_DEPTH_MAX, parseTolerant, parseTolerantDocument } from "../../scripts/core/tolerant-json.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** `levels` containers inside each other, the innermost empty. */
function deep(levels: number, open: string, close: string): string {
  return `${open.repeat(levels - 1)}${open[0] === "[" ? "[]" : "{}"}${close.repeat(levels - 1)}`;
}

test("of a document the same is read whether its depth is looked at before the parser or after it", () => {
  const documents = fc
    .tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(0, 2), fc.constantFrom("", "\uFEFF", "\0", " \n"))
    .map(([value, space, before]) => before + JSON.stringify(value, null, space));
  fc.assert(
    fc.property(
      documents,
      fc.nat(),
      fc.option(fc.constantFrom(0x00, 0x22, 0x5c, 0x5d, 0x7b, 0xc3)),
      (text, at, byte) => {
        const bytes = bytesOf(text);
        if (byte !== null) bytes[at % bytes.length] = byte;
        expect(parseTolerantDocument(bytes)).toEqual(parseTolerant(bytes));
      },
    ),
    { numRuns: 1500 },
  );
});

test("a value may be as deep as the limit and no deeper, whatever it is made of and however long it is", () => {
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
    ['["\\"[", ', "]"],
    ['{"[":1,"b":', "}"],
  ] as const) {
    for (const padding of ["", " ".repeat(600 * 1024)]) {
      for (const [levels, isTaken] of [
        [JSON_DEPTH_MAX, true],
        [JSON_DEPTH_MAX + 1, false],
        [JSON_DEPTH_MAX + 40, false],
      ] as const) {
        const bytes = bytesOf(deep(levels, open, close) + padding);
        expect([parseTolerant(bytes).ok, parseTolerantDocument(bytes).ok]).toEqual([isTaken, isTaken]);
      }
    }
  }
});

test("brackets in texts are no depth, and an escaped quote ends no text", () => {
  for (const text of [`{"a":"${"[".repeat(1000)}"}`, `["\\"${"{".repeat(1000)}\\\\"]`]) {
    expect(parseTolerant(bytesOf(text))).toEqual({ ok: true, value: JSON.parse(text) });
    expect(parseTolerantDocument(bytesOf(text))).toEqual({ ok: true, value: JSON.parse(text) });
  }
});
