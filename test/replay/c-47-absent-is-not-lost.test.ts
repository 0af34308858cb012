import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { picture } from "../support/hostile-world.ts";
import { handedOut, heardBy, idOf, refusal, runsIn, seat, shipped } from "../support/replay.ts";
import { begin, request, runFolder } from "../support/scripted-run.ts";

const product = shipped();

test("C-47: a run whose log is gone is lost, not absent: it is named everywhere and nothing begins afresh over it", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  expect((await session.run("resume")).json).toMatchObject({ run: null });
  const told = await handedOut(session, "scout");
  const folder = runFolder(world);
  renameSync(join(folder, "log.jsonl"), join(folder, "log.jsonl.old"));
  for (const left of ["as it is", "without its snapshot"]) {
    if (left !== "as it is") rmSync(join(folder, "snapshot.json"));
    const before = picture(folder);
    expect((await session.run("status")).json.runs, left).toMatchObject([
      { id: idOf(told), resumable: false, why: expect.stringMatching(/^unreadable: ledger\.absent/) },
    ]);
    expect(refusal(await session.run("resume", "--run", idOf(told)))).toEqual([3, "ledger.absent"]);
    const pointer = heardBy("claude", await session.hook("claude", "SessionStart", { source: "startup" }));
    expect(pointer).toContain(`run ${idOf(told)} is unreadable`);
    expect(picture(folder)).toEqual(before);
  }
  // Nor does the same request begin anew over it: only a human gives it up.
  const again = await begin(session, request, "--headless");
  expect(refusal(again), again.stdout).toEqual([3, "ledger.absent"]);
  expect(runsIn(world.project)).toHaveLength(1);
  expect(existsSync(join(folder, "log.jsonl"))).toBe(false);
});
