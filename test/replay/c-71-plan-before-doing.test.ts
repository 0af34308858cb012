import { expect, test } from "vitest";
import { agentOf, handedOut, leaveResult, seat, shipped } from "../support/replay.ts";
import { scout } from "../support/scripted-agents.ts";
import { logBytes } from "../support/scripted-run.ts";

const product = shipped();

test("C-71: one command goes on after an interruption, and says beforehand what is done, what is taken and what is left", async () => {
  const world = product.world();
  const a = await seat(world, 1);
  const told = await handedOut(a.session, "scout");
  await a.host.kill();
  const b = await seat(world, 2);
  const before = logBytes(world);
  const planned = await b.session.run("resume", "--dry-run");
  const done = ["INIT", "INTENT_CAPTURED", "TRIAGED"].map((what) => ({ act: "keep", what, why: "recorded as done" }));
  expect(planned.json.plan).toEqual([
    { act: "claim", what: "next epoch", why: "owner is free" },
    ...done,
    { act: "redo", what: "scout", why: "its agent's process is gone and left no result" },
  ]);
  leaveResult(agentOf(told), scout);
  expect((await b.session.run("resume", "--dry-run")).json.plan).toContainEqual({
    act: "adopt",
    what: "scout",
    why: "its result lies there and passes",
  });
  expect(logBytes(world)).toBe(before);
  const resumed = await b.session.run("resume");
  expect(resumed.did).toEqual(["claimed epoch 2", "took scout#1@1"]);
  expect(resumed.json.run).toMatchObject({ progress: { done: 4, total: 8 } });
});
