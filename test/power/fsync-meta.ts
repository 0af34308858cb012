/** Takes one fsync away and asks the checks of this folder whether they notice. */
import { seeded } from "../crash/points.ts";
import { withoutSync } from "./fsync-sites.ts";
import { type Image, type Product, play, type Scenario, sweep } from "./power-cut.ts";

/** Scenarios that come by a place, each with the changes behind which it syncs. */
export type Used = ReadonlyMap<Scenario, readonly number[]>;

/** Every place that syncs, in the order of its name. */
export async function sitesOf(scenarios: readonly Scenario[]): Promise<ReadonlyMap<string, Used>> {
  const sites = new Map<string, Map<Scenario, number[]>>();
  for (const scenario of scenarios) {
    const product: Product = (fs, now) =>
      withoutSync(fs, null, (here) => {
        const used = sites.get(here) ?? new Map<Scenario, number[]>();
        used.set(scenario, [...(used.get(scenario) ?? []), now()]);
        sites.set(here, used);
      });
    await play(scenario, () => false, product);
  }
  return new Map([...sites].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** How far behind a missing fsync its loss shows: the next one of the same file or folder makes up for it. */
const reach = 26;
const timesMax = 4;

/** What the checks find without the place's fsync; null: nothing. */
export async function noticedWithout(site: string, used: Used): Promise<string | null> {
  for (const [scenario, times] of used) {
    const product: Product = (fs) => withoutSync(fs, site, () => {});
    // An fsync that does nothing is no change, so later ones come a change earlier each.
    const chosen = [...times.keys()].filter((at) => at < timesMax || at === times.length - 1);
    const windows = chosen.map((at) => (times[at] as number) - at);
    const isNear = (nth: number): boolean => windows.some((from) => nth >= from - 1 && nth <= from + reach);
    const { images } = await play(scenario, isNear, product);
    const found =
      (await lossIn(images, product, { reads: true, twice: false })) ??
      (await lossIn(images, product, { reads: true, twice: true })) ??
      (await lossIn(images, product, { twice: false }));
    if (found !== null) return `${scenario.name}: ${found}`;
  }
  return null;
}

async function lossIn(
  images: readonly Image[],
  product: Product,
  how: { readonly reads?: true; readonly twice: boolean },
): Promise<string | null> {
  const lucksMax = how.reads === true ? 60 : 8;
  const cut = { lucks: 2, random: seeded(1), whole: false, product, first: true, lucksMax, ...how };
  const [fault = null] = (await sweep(images, cut)).faults;
  return fault;
}
