/** A sample of `npm run power`: the power goes behind changes a seed chose, and takes what a seed chose. */
import { expect, test } from "vitest";
import { deadline, isAll, random, seed, shuffled } from "./budget.ts";
import { play, sweep } from "./power-cut.ts";
import { scenarios } from "./scenarios.ts";

const hourMs = 3_600_000;

test("the power away behind any change, with whatever was young: nothing told is lost, and every run goes on to its end", {
  timeout: 6 * hourMs,
}, async () => {
  const isLate = deadline(6000);
  const faults: string[] = [];
  let cuts = 0;
  for (const scenario of isAll ? scenarios : shuffled(scenarios).slice(0, 2)) {
    const { changes } = await play(scenario, () => false);
    const chosen = new Set(
      isAll ? Array(changes).keys() : Array.from({ length: 8 }, () => Math.floor(random() * changes)),
    );
    const { images } = await play(scenario, (nth) => chosen.has(nth));
    const seen = new Set<string>();
    for (const image of shuffled(images)) {
      if (cuts > 0 && isLate()) break;
      const swept = await sweep(
        [image],
        { lucks: 4, lucksMax: isAll ? 24 : 5, random, whole: true, twice: true },
        seen,
      );
      cuts += swept.cuts;
      faults.push(...swept.faults.map((fault) => `${scenario.name}: ${fault}`));
    }
  }
  console.log(`${cuts} power cuts, seed ${seed} (ATLAS_SEED repeats them)`);
  expect(faults, `repeat with ATLAS_SEED=${seed}`).toEqual([]);
});
