import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { handedOut, heardBy, idOf, runsIn, seat, shipped } from "../support/replay.ts";
import { gitIn, sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-61: from a subfolder, a worktree, a link or with GIT_DIR set it is the one store; an empty answer names the places searched", async () => {
  const world = product.world();
  const beside = dirname(world.project);
  const deep = join(world.project, "packages", "a");
  mkdirSync(deep, { recursive: true });
  const linked = join(beside, "linked");
  gitIn(world.project, "worktree", "add", "-q", "-b", "side", linked);
  const link = join(beside, "link");
  symlinkSync(deep, link);
  const other = product.world();

  const a = await seat(world, 1, { cwd: deep });
  const id = idOf(await handedOut(a.session, "scout"));
  const env = { GIT_DIR: join(other.project, ".git"), GIT_WORK_TREE: other.project };
  for (const from of [{ cwd: linked }, { cwd: link }, { cwd: deep, env }]) {
    const told = await sit(world, from).run("status");
    expect(told.json.runs, JSON.stringify(from)).toMatchObject([{ id, root: world.project }]);
  }
  const pointer = await seat(world, 2, { cwd: linked });
  expect(heardBy("claude", await pointer.session.hook("claude", "SessionStart", { source: "startup" }))).toContain(id);
  expect([runsIn(world.project), runsIn(deep), runsIn(linked), runsIn(other.project)]).toEqual([[id], [], [], []]);

  for (const verb of ["status", "resume"]) {
    const told = await sit(other).run(verb);
    expect(told.json, verb).toMatchObject({ searched: [other.project] });
  }
});
