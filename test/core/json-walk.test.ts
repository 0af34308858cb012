import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonWalk, OffTheWalk, OPEN_LIST, OPEN_OBJECT } from "../../scripts/core/json-walk.ts";

const depthMax = 8;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Whether a walk steps over the whole text as one value. */
function walks(text: string): boolean {
  const walk = new JsonWalk(bytesOf(text), depthMax);
  try {
    walk.skip();
    walk.end();
    return true;
  } catch (error) {
    if (error instanceof OffTheWalk) return false;
    throw error;
  }
}

function parses(text: string): boolean {
  try {
    return depthOf(JSON.parse(text.replace(/^\uFEFF/, ""))) <= depthMax;
  } catch {
    return false;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const documents = fc
  .tuple(fc.jsonValue({ maxDepth: 10 }), fc.constantFrom(0, 2, "\t"), fc.constantFrom("", "\uFEFF", " \r\n"))
  .map(([value, space, before]) => `${before}${JSON.stringify(value, null, space)}\n`);

describe("a walk over JSON", () => {
  test("takes every document a parser takes, as deep as it may be", () => {
    fc.assert(
      fc.property(documents, (text) => {
        expect(walks(text)).toBe(parses(text));
      }),
    );
  });

  test("takes what is as deep as it may be, and nothing deeper", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const deep = (levels: number): string => `${open.repeat(levels - 1)}[]${close.repeat(levels - 1)}`;
      expect([walks(deep(depthMax)), walks(deep(depthMax + 1))]).toEqual([true, false]);
    }
  });

  test("with letters struck out, doubled or exchanged it takes what a parser takes, and nothing else", () => {
    const letters = fc.constantFrom(...'{}[]:,"\\ \n\t\r\0\v01-+eE.tfnu\uFEFF\u00e9\u0001');
    const edit = fc.record({ at: fc.nat(), letter: letters, how: fc.constantFrom("out", "in", "other") });
    fc.assert(
      fc.property(documents, fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
        const changed = edits.reduce((now, { at, letter, how }) => {
          const place = at % (now.length + 1);
          return `${now.slice(0, place)}${how === "out" ? "" : letter}${now.slice(place + (how === "in" ? 0 : 1))}`;
        }, text);
        expect(walks(changed)).toBe(parses(changed));
      }),
      { numRuns: 2000 },
    );
  });

  test("any pieces of JSON in any order: what a parser takes, and nothing else", () => {
    const piece = fc.constantFrom(
      ...'{}[]:,"\\ \n01-+eE.tfn',
      "true",
      "null",
      "false",
      "-0",
      "01",
      "1.5e-3",
      "1.",
      ".5",
      '"a"',
      '"\\u00e9"',
      '"\\u00g9"',
      '"\\x"',
      '"\u0000"',
      '{"a":1}',
      "[1,2]",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (parts) => {
        const text = parts.join("");
        expect(walks(text)).toBe(parses(text));
      }),
      { numRuns: 3000 },
    );
  });

  test("a key that was stepped over is known by its bytes, and by no escaped spelling of them", () => {
    const walk = new JsonWalk(bytesOf('{"deps":["x","\\u0064"], "d\\u0065ps" : 2}'), depthMax);
    const deps = bytesOf("deps");
    walk.enter(OPEN_OBJECT);
    expect(walk.firstKey()).toBe(true);
    expect([walk.is(deps), walk.is(bytesOf("dep")), walk.hasEscape]).toEqual([true, false, false]);
    walk.enter(OPEN_LIST);
    expect(walk.firstItem()).toBe(true);
    walk.string();
    expect(walk.nextItem()).toBe(true);
    walk.string();
    expect(walk.hasEscape).toBe(true);
    expect(walk.nextItem()).toBe(false);
    expect(walk.nextKey()).toBe(true);
    expect([walk.is(deps), walk.hasEscape]).toEqual([false, true]);
    walk.skip();
    expect(walk.nextKey()).toBe(false);
    walk.end();
  });
});
