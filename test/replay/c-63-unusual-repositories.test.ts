import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { agentOf, handedOut, runsIn, seat, shipped } from "../support/replay.ts";
import { workOf } from "../support/scripted-agents.ts";
import { gitIn, type World } from "../support/scripted-run.ts";

const product = shipped();

const shapes: Readonly<Record<string, (world: World) => string>> = {
  "a submodule with a configuration of its worktree": (world) => {
    const around = join(dirname(world.project), "around");
    mkdirSync(around);
    gitIn(around, "init", "-q", ".");
    gitIn(around, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", world.project, "sub");
    gitIn(join(around, "sub"), "config", "extensions.worktreeConfig", "true");
    return join(around, "sub");
  },
  "a shallow and sparse clone": (world) => {
    const clone = join(dirname(world.project), "clone");
    gitIn(dirname(world.project), "clone", "-q", "--depth", "1", `file://${world.project}`, clone);
    gitIn(clone, "sparse-checkout", "set", "src");
    return clone;
  },
};

test.each(Object.entries(shapes))("C-63: %s holds a run, and its coder gets a tree", async (_name, make) => {
  const world = product.world();
  const project = make(world);
  const status = gitIn(project, "status", "--porcelain");
  const { session } = await seat({ ...world, project }, 1);
  const told = await handedOut(session, "coder");
  expect(existsSync(join(workOf(agentOf(told)).root, "src", "add.js"))).toBe(true);
  expect([runsIn(project).length, gitIn(project, "status", "--porcelain")]).toEqual([1, status]);
});

test("C-63: in a bare repository without a worktree a run is refused before anything is written, with the reason", async () => {
  const world = product.world();
  const bare = join(dirname(world.project), "bare.git");
  gitIn(dirname(world.project), "clone", "-q", "--bare", world.project, bare);
  const { session } = await seat({ ...world, project: bare }, 1);
  const told = await session.run("start", "change", "--headless", "--text", join(world.project, "check.js"));
  expect([told.code, existsSync(join(bare, ".atlas"))], told.stdout).toEqual([3, false]);
  expect(told.refused.reason).not.toBe("");
});
