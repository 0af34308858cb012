/** A sample of `npm run power`: calls a seed chose fail as disks and limits fail. */
import { expect, test } from "vitest";
import { deadline, drawnOf, isAll, seed, shuffled } from "./budget.ts";
import { callsOf, type DiskFault, faultsWith, isPossible, toldAs } from "./disk-faults.ts";
import { scenarios } from "./scenarios.ts";

test("whatever call fails: the disk or the limit is named, nothing told is lost, and the run goes on without the fault", {
  timeout: 6 * 3_600_000,
}, async () => {
  const isLate = deadline(5000);
  const found: string[] = [];
  let tried = 0;
  for (const scenario of isAll ? scenarios : shuffled(scenarios).slice(0, 3)) {
    const calls = await callsOf(scenario);
    const errnos = Object.keys(toldAs);
    const all = calls.flatMap((call) =>
      errnos.flatMap((errno) =>
        [false, true]
          .filter((lasting) => isPossible({ errno, nth: call.nth, lasting }, call) && !(lasting && errno === "EINTR"))
          .map((lasting): DiskFault => ({ errno, nth: call.nth, lasting })),
      ),
    );
    for (const fault of isAll ? all : drawnOf(all, 6)) {
      if (tried > 0 && isLate()) break;
      tried += 1;
      const where = `${scenario.name}, ${JSON.stringify(fault)} at ${calls[fault.nth]?.name} ${calls[fault.nth]?.path}`;
      found.push(...(await faultsWith(scenario, fault)).map((one) => `${where}: ${one}`));
    }
  }
  console.log(`${tried} failing calls, seed ${seed} (ATLAS_SEED repeats them)`);
  expect(found, `repeat with ATLAS_SEED=${seed}`).toEqual([]);
});
