import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { agentOf, handedOut, idOf, seat, shipped } from "../support/replay.ts";
import { workOf } from "../support/scripted-agents.ts";
import { gitIn, runFolder, scripted } from "../support/scripted-run.ts";

const product = shipped();

test("C-57: locked, missing and checked-out worktrees of others and empty folders in the way stop no run and are left as they are", async () => {
  const world = product.world();
  const beside = dirname(world.project);
  gitIn(world.project, "worktree", "add", "-q", "-b", "one", join(beside, "locked"));
  gitIn(world.project, "worktree", "lock", "--reason", "mine", join(beside, "locked"));
  gitIn(world.project, "worktree", "add", "-q", "-b", "two", join(beside, "gone"));
  gitIn(world.project, "worktree", "add", "-q", "-b", "three", join(beside, "used"));
  for (const name of ["locked", "gone"]) rmSync(join(beside, name), { recursive: true });
  const entries = () => gitIn(world.project, "worktree", "list", "--porcelain").split("\n\n");
  const listed = () => entries().filter((entry) => /\/(locked|gone|used)$/m.test(entry));
  const others = listed();

  const a = await seat(world, 1);
  const told = await handedOut(a.session, "scout");
  // What a killed making leaves where the run's own tree is to stand.
  mkdirSync(join(runFolder(world), "worktree", "e1"), { recursive: true });
  const coding = await scripted(a.session).go(
    told,
    (next) => next.do === "dispatch" && next.agents[0].slot === "coder",
  );
  const { root } = workOf(agentOf(coding));
  expect(existsSync(join(root, "src", "add.js"))).toBe(true);
  expect(listed()).toEqual(others);

  // Its own tree, lost with its entry: made anew; nobody else's entry goes.
  rmSync(root, { recursive: true });
  await a.host.kill();
  const b = await seat(world, 2);
  const again = await b.session.run("resume");
  expect(existsSync(join(workOf(agentOf(again)).root, "src", "add.js")), again.stdout).toBe(true);
  expect((await b.session.run("clean")).code).toBe(0);
  expect(listed()).toEqual(others);
  expect(entries().filter((entry) => entry.includes(idOf(told)))).toHaveLength(1);
});
