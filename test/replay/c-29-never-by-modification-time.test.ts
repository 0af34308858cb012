import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeOwnRun } from "../support/ledger.ts";
import { heardBy, refusal, shipped } from "../support/replay.ts";
import { sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-29: of three open runs none is chosen by what was touched last: they are listed and the user is asked, headless too", async () => {
  const world = product.world();
  const atlas = join(world.project, ".atlas");
  const ids = [1, 2, 3].map((n) => `20261130t19000${n}z-00000${n}`);
  const runs = ids.map((id, at) => writeOwnRun(atlas, { id, ts: `2026-11-30T19:00:0${at + 1}.000Z` }));
  const session = sit(world);
  for (const touched of [0, 2]) {
    runs.forEach(({ folder, log }, at) => {
      const time = at === touched ? 2_000_000_000 : 1_000_000_000;
      for (const path of [folder, log]) utimesSync(path, time, time);
    });
    for (const words of [["resume"], ["resume", "--headless"]]) {
      const told = await session.run(...words);
      expect(refusal(told)).toEqual([3, "resume.ambiguous"]);
      expect(told.refused.reason).toContain([...ids].reverse().join(", "));
    }
  }
  const pointer = heardBy("claude", await session.hook("claude", "SessionStart", { source: "startup" })) as string;
  expect(pointer).toContain("ask the user which");
  expect([...pointer.matchAll(/run=(\S+)/g)].map(([, id]) => id)).toEqual([...ids].reverse());
});
