import { expect, test } from "vitest";
import { agentsOf, handedOut, leaveResult, seat, shipped } from "../support/replay.ts";
import { content, mending } from "../support/scripted-agents.ts";
import { eventsOf } from "../support/scripted-run.ts";

const product = shipped();

test("C-40: of agents that were out together only the one without a result is started again", async () => {
  const world = product.world();
  const a = await seat(world, 1);
  const told = await handedOut(a.session, "security", { agents: { coder: mending } });
  const agents = agentsOf(told);
  expect(agents).toHaveLength(3);
  const [first, killed, third] = agents;
  for (const agent of [first, third]) if (agent !== undefined) leaveResult(agent, content);
  await a.host.kill();

  const b = await seat(world, 2);
  const resumed = await b.session.run("resume");
  expect(agentsOf(resumed).map(({ lease }) => lease)).toEqual([`${killed?.slot}#2@2`]);
  const again = await b.session.run("resume");
  expect([again.did, again.next]).toEqual([["reattached epoch 2"], resumed.next]);
  const critics = new Set(agents.map(({ slot }) => slot));
  const leased = eventsOf(world).filter(({ type, slot }) => type === "leased" && critics.has(String(slot)));
  expect(leased).toHaveLength(4);
});
