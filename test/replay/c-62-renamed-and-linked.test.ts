import { renameSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { handedOut, idOf, refusal, seat, shipped } from "../support/replay.ts";
import { sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-62: a run is found by what its folder is and not by its path's letters: through links and after a renaming, never twice, never hidden", async () => {
  const world = product.world();
  const beside = dirname(world.project);
  const link = join(beside, "Link");
  symlinkSync(beside, link);
  const a = await seat(world, 1, { cwd: join(link, "project") });
  const id = idOf(await handedOut(a.session, "scout"));
  const seen = await sit(world, { cwd: join(link, "project", "src") }).run("status");
  expect(seen.json).toMatchObject({ places: [{ root: world.project }], runs: [{ id }] });
  await a.host.kill();

  const moved = join(beside, "renamed");
  renameSync(world.project, moved);
  const there = sit({ ...world, project: moved });
  expect((await there.run("status")).json).toMatchObject({ runs: [{ id, root: moved }] });
  const refused = await there.run("resume");
  expect([refusal(refused), refused.refused.reason.includes(world.project)]).toEqual([[3, "run.moved"], true]);
  renameSync(moved, world.project);
  expect((await sit(world).run("resume")).next).toMatchObject({ do: "dispatch" });
});
