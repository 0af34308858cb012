/** Each fsync of the product is there for something: without it a check of this folder finds a loss. */
import { expect, test } from "vitest";
import { deadline, isAll, seed, shuffled } from "./budget.ts";
import { noticedWithout, sitesOf } from "./fsync-meta.ts";
import { scenarios } from "./scenarios.ts";

/** Places for which every run of all of them found a loss; the others are tried by `npm run power` alone. */
const shown = /^engine\/(birth|fork|artifacts|log)\.ts:/;

test("one fsync less behind a birth, a fork, an artifact or a line is noticed", {
  timeout: 6 * 3_600_000,
}, async () => {
  const sites = await sitesOf(scenarios);
  const isLate = deadline(4000);
  const unnoticed: string[] = [];
  let tried = 0;
  const places = [...sites].filter(([site]) => isAll || shown.test(site));
  expect(places.length).toBeGreaterThan(4);
  for (const [site, used] of isAll ? places : shuffled(places)) {
    if (tried > 0 && isLate()) break;
    tried += 1;
    // The control: the very same cuts with every fsync in its place.
    if (isAll) expect(await noticedWithout("none", used), site).toBeNull();
    const found = await noticedWithout(site, used);
    if (isAll) console.log(`${site}: ${found ?? "NOBODY NOTICES"}`);
    if (found === null) unnoticed.push(site);
  }
  console.log(`${tried} of ${sites.size} places tried, seed ${seed}`);
  expect(unnoticed, `repeat with ATLAS_SEED=${seed}`).toEqual([]);
});
