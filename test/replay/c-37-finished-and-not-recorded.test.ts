import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { agentOf, agentsOf, handedOut, leaveResult, seat, shipped } from "../support/replay.ts";
import { mending } from "../support/scripted-agents.ts";
import { eventsOf, gitIn } from "../support/scripted-run.ts";

const product = shipped();

test("C-37: work that was finished and not recorded is looked for first and marked done with its evidence", async () => {
  const world = product.world();
  const witness = join(dirname(world.project), "ran");
  // The command leaves a mark each time it runs.
  const check = join(world.project, "check.js");
  const mark = `require("node:fs").appendFileSync(${JSON.stringify(witness)}, "x");\n`;
  writeFileSync(check, `${mark}${readFileSync(check, "utf8")}`);
  gitIn(world.project, "commit", "-qam", "a check that leaves a mark");
  const a = await seat(world, 1);
  const told = await handedOut(a.session, "coder");
  leaveResult(agentOf(told), mending);
  await a.host.kill();

  const b = await seat(world, 2);
  const resumed = await b.session.run("resume");
  expect(resumed.did, resumed.stdout).toContain("took coder#1@1");
  // The command runs on by itself; the one who asked for it dies.
  expect((await b.session.type(`${(resumed.next as { command: string }).command} --background`)).code).toBe(0);
  await b.host.kill();
  const c = await seat(world, 3);
  const after = await c.session.run("resume", "--wait", "30");
  expect(
    agentsOf(after)
      .map(({ slot }) => slot)
      .sort(),
  ).toEqual(["code-quality", "correctness", "security"]);
  const events = eventsOf(world);
  const count = (type: string, slot?: string) =>
    events.filter((event) => event.type === type && event.slot === slot).length;
  expect([count("leased", "coder"), count("filled", "coder"), count("evidence")]).toEqual([1, 1, 1]);
  expect(readFileSync(witness, "utf8")).toBe("x");
});
