import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { agentOf, handedOut, idOf, seat, shipped } from "../support/replay.ts";
import { workOf } from "../support/scripted-agents.ts";
import { gitIn } from "../support/scripted-run.ts";

const product = shipped();

test("C-59: uncommitted work outlives a kill and a cleaned temporary folder: trees lie in the project, and the half is kept under a ref", async () => {
  const world = product.world();
  const temporary = join(dirname(world.project), "tmp");
  mkdirSync(temporary);
  const env = { TMPDIR: temporary };
  const a = await seat(world, 1, { env });
  const told = await handedOut(a.session, "coder");
  const { root } = workOf(agentOf(told));
  expect(relative(world.project, root)).toMatch(/^\.atlas\//);
  writeFileSync(join(root, "src", "add.js"), "half of it");
  writeFileSync(join(root, "new.txt"), "untracked");
  await a.host.kill();
  rmSync(temporary, { recursive: true });
  mkdirSync(temporary);

  const b = await seat(world, 2, { env });
  const resumed = await b.session.run("resume");
  const [, ref] = /keep-tree:e1\.1 (refs\/\S+)/.exec(resumed.did.join("\n")) ?? [];
  expect(ref, resumed.stdout).toContain(idOf(told));
  expect(gitIn(world.project, "show", `${ref}:src/add.js`)).toBe("half of it");
  expect(gitIn(world.project, "show", `${ref}:new.txt`)).toBe("untracked");
  expect(gitIn(world.project, "status", "--porcelain")).toBe("");
});
