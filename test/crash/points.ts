/** Where something is killed: everywhere, at every n-th place, or where a seed chose. */
import type { Point, Weapon } from "./point.ts";
import type { Site } from "./site.ts";
import type { OwnCall } from "./strace.ts";

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

/** A kind of call first, then one of that kind, because rare calls change more than common ones. */
export function chosenCall(calls: ReadonlyMap<string, number>, random: () => number): OwnCall {
  const [call, count] = [...calls][Math.floor(random() * calls.size)] as [string, number];
  return { call, at: 1 + Math.floor(random() * count) };
}
