import { expect, test } from "vitest";
import {
  agentOf,
  commandIn,
  handedOut,
  heardBy,
  idOf,
  leaveResult,
  livingHost,
  seat,
  shipped,
} from "../support/replay.ts";
import { scout } from "../support/scripted-agents.ts";
import { eventsOf, sessionId, sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-06: a session that has another id after its compaction finds the run by the run's id, and no step is redone", async () => {
  const world = product.world();
  const host = livingHost();
  const before = await seat(world, 1, { host });
  const told = await handedOut(before.session, "scout");
  const agent = agentOf(told);
  leaveResult(agent, scout);

  // Same process, same conversation, another id: nobody said that the first session ended.
  const after = sit(world, { host, session: sessionId(2) });
  const pointer = heardBy("claude", await after.hook("claude", "SessionStart", { source: "compact" }));
  expect(pointer).toContain(`run=${idOf(told)} stage=TRIAGED`);
  const resumed = await after.type(commandIn(pointer));
  expect(resumed.next, resumed.stdout).toMatchObject({ do: "submit", slot: "plan" });
  const done = eventsOf(world).filter(({ type }) => type === "leased" || type === "filled");
  expect(done.map(({ type, slot }) => [type, slot])).toEqual([
    ["filled", "triage"],
    ["leased", "scout"],
    ["filled", "scout"],
  ]);
});
