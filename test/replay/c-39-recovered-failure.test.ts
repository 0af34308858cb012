import { expect, test } from "vitest";
import { agentOf, handedOut, idOf, leaveResult, seat, shipped } from "../support/replay.ts";
import { scout } from "../support/scripted-agents.ts";

const product = shipped();

test("C-39: after a failure that a later success made good, the later word counts, through a crash too", async () => {
  const world = product.world();
  const a = await seat(world, 1);
  const told = await handedOut(a.session, "scout");
  const failed = await a.session.type(`${agentOf(told).then} --failed error`);
  expect(agentOf(failed).lease).toBe("scout#2@1");
  leaveResult(agentOf(failed), scout);
  expect((await a.session.type(agentOf(failed).then)).next).toMatchObject({ do: "submit", slot: "plan" });
  await a.host.kill();

  const b = await seat(world, 2);
  const resumed = await b.session.run("resume");
  expect([resumed.did, resumed.next], resumed.stdout).toMatchObject([
    ["claimed epoch 2"],
    { do: "submit", slot: "plan" },
  ]);
  const [run] = (await b.session.run("status")).json.runs as object[];
  expect(run).toMatchObject({ stage: "GROUNDED", losses: [], why: "unfinished" });
  const report = await b.session.run("report", "--run", idOf(told));
  expect(report.json).toMatchObject({
    reasons: [],
    dispatches: [
      { lease: "scout#1@1", end: "error" },
      { lease: "scout#2@1", end: "taken" },
    ],
  });
});
