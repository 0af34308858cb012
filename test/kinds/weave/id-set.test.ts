import fc from "fast-check";
import { expect, test } from "vitest";
import { OffTheWalk } from "../../../scripts/core/json-walk.ts";
import { IdSet } from "../../../scripts/kinds/weave/id-set.ts";

/** Ids in quotes, one after the other, and where each lies. */
function laidOut(ids: readonly string[]): { bytes: Uint8Array; places: readonly (readonly [number, number])[] } {
  let at = 0;
  const places = ids.map((id) => {
    const from = at + 1;
    at = from + Buffer.byteLength(id) + 1;
    return [from, at - 1] as const;
  });
  return { bytes: Buffer.from(ids.map((id) => `"${id}"`).join("")), places };
}

test("a set of ids holds what was added and nothing else, whatever begins like whatever", () => {
  const many = fc
    .record({
      stem: fc.string({ maxLength: 3 }),
      count: fc.integer({ min: 1, max: 2000 }),
      step: fc.integer({ min: 1, max: 9 }),
    })
    .map(({ stem, count, step }) => [stem, ...Array.from({ length: count }, (_, at) => `${stem}${at * step}`)]);
  fc.assert(
    fc.property(many, fc.integer({ min: 2, max: 9 }), (ids, every) => {
      const { bytes, places } = laidOut(ids);
      const set = new IdSet(bytes);
      const model = new Set(ids.filter((_, at) => at % every === 1));
      places.forEach(([from, to], at) => {
        if (at % every === 1) set.add(from, to);
      });
      expect(places.map(([from, to]) => set.has(from, to))).toEqual(ids.map((id) => model.has(id)));
    }),
  );
});

test("ids made to collide end the set, and do not cost the square of their number", () => {
  const colliding: string[] = [];
  for (let at = 0; colliding.length < 400; at += 1) if (placeOf(`n${at}`) === 7) colliding.push(`n${at}`);
  const { bytes, places } = laidOut(colliding);
  const set = new IdSet(bytes);
  expect(() => {
    for (const [from, to] of places) set.add(from, to);
  }).toThrow(OffTheWalk);
});

/** The place of an id among the first 1,024. */
function placeOf(id: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(id)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash ^ (hash >>> 15)) & 1023;
}
