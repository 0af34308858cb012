import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { agentOf, handedOut, idOf, seat, shipped } from "../support/replay.ts";
import { workOf } from "../support/scripted-agents.ts";
import { runFolder } from "../support/scripted-run.ts";

const product = shipped();

test("C-08: whatever prints a dispatch has written its brief first and names it; where it cannot, nothing is dispatched", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const told = await handedOut(session, "scout");
  const agent = agentOf(told);
  expect(agent.prompt).toContain(agent.packet);
  expect(workOf(agent).root).toBe(world.project);
  const next = ["next", "--run", idOf(told), "--claim", told.claim];

  for (const lost of [agent.packet, dirname(agent.packet), join(runFolder(world), "packets")]) {
    rmSync(lost, { recursive: true });
    expect(agentOf(await session.run(...next)).packet).toBe(agent.packet);
    expect(existsSync(agent.packet), lost).toBe(true);
  }

  const packets = join(runFolder(world), "packets");
  for (const block of [
    () => writeFileSync(packets, "in the way"),
    () => mkdirSync(agent.packet, { recursive: true }),
  ]) {
    rmSync(packets, { recursive: true });
    block();
    for (const words of [next, ["resume", "--run", idOf(told)]]) {
      const refused = await session.run(...words);
      expect([3, 4], refused.stdout).toContain(refused.code);
      expect(refused.next, refused.stdout).toBeUndefined();
    }
  }
  rmSync(packets, { recursive: true });
  expect(agentOf(await session.run(...next)).lease).toBe(agent.lease);
});
