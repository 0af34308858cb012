/** Where a site is killed: everywhere, every n-th place, or at places a seed chose. */
import { nameOf, type Point, type Weapon } from "./point.ts";
import type { Site } from "./site.ts";

/** Points of one kind in a row: the row ends where the command is over before the point. */
export interface Row {
  readonly name: string;
  /** As far as an unkilled run tells; what a command reads of the machine differs from run to run. */
  readonly length: number;
  at(place: number): Point;
}

export function rowsOf(site: Site, weapon: Weapon): readonly Row[] {
  if (weapon === "git call") {
    return (["before", "after"] as const).map((when) => ({
      name: `git ${when}`,
      length: site.counts.git,
      at: (place) => ({ weapon, git: { when, at: place } }),
    }));
  }
  const counts = weapon === "performer" ? site.counts.performer : site.counts.own;
  return [...counts].map(([call, length]) => ({
    name: weapon === "performer" ? `performer's ${call}` : call,
    length,
    at: (place) => ({ weapon, own: { call, at: place } }) as Point,
  }));
}

/** Numbers from 0 to below 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Up to `count` different points: a row first, then a place in it, because rare calls change more than common ones. */
export function chosenPoints(rows: readonly Row[], count: number, random: () => number): readonly Point[] {
  const chosen = new Map<string, Point>();
  for (let draw = 0; draw < 10 * count && chosen.size < count; draw += 1) {
    const row = rows[Math.floor(random() * rows.length)];
    if (row === undefined) break;
    const point = row.at(1 + Math.floor(random() * Math.max(1, row.length)));
    chosen.set(nameOf(point), point);
  }
  return [...chosen.values()];
}
