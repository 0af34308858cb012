import { expect, test } from "vitest";
import { agentOf, handedOut, seat, shipped } from "../support/replay.ts";
import { eventsOf } from "../support/scripted-run.ts";

const product = shipped();

test("C-72: attempts are counted for each slot and leases for the whole run, and retrying one repeats no finished other", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const told = await handedOut(session, "scout");
  const second = await session.type(`${agentOf(told).then} --failed error`);
  expect(agentOf(second).lease).toBe("scout#2@1");
  const given = await session.type(`${agentOf(second).then} --failed timeout`);
  // Two bad endings are the most a slot has; the run goes on without it or ends, and says so.
  expect(given.next, given.stdout).not.toMatchObject({ agents: [{ slot: "scout" }] });
  const events = eventsOf(world);
  const of = (type: string) => events.filter((event) => event.type === type);
  expect(of("leased").map(({ lease }) => lease)).toEqual(["scout#1@1", "scout#2@1"]);
  expect(of("filled").map(({ slot }) => slot)).toEqual(["triage"]);
  const granted = of("gas-granted").reduce((sum, { amount }) => sum + Number(amount), 0);
  expect(given.json.run).toMatchObject({ gas: { spent: 2, left: granted - 2 } });
});
