import { expect, test } from "vitest";
import { agentOf, handedOut, seat, shipped } from "../support/replay.ts";
import { eventsOf, logBytes } from "../support/scripted-run.ts";

const product = shipped();

test("C-36: a recovery comes from the one log: done twice it is done once, and each further kill is counted, never silent", async () => {
  const world = product.world();
  let now = await seat(world, 1);
  await handedOut(now.session, "scout");
  for (const epoch of [2, 3, 4]) {
    await now.host.kill();
    now = await seat(world, epoch);
    const first = await now.session.run("resume");
    expect(first.did, first.stdout).toEqual([
      `claimed epoch ${epoch}`,
      `ended scout#${epoch - 1}@${epoch - 1} (lost)`,
      `handed out scout#${epoch}@${epoch}`,
    ]);
    const bytes = logBytes(world);
    const again = await now.session.run("resume");
    expect([again.did, again.next]).toEqual([[`reattached epoch ${epoch}`], first.next]);
    expect(logBytes(world)).toBe(bytes);
    expect(agentOf(first).lease).toBe(`scout#${epoch}@${epoch}`);
  }
  const leased = eventsOf(world).filter(({ type }) => type === "leased").length;
  const [run] = (await now.session.run("status")).json.runs as { gas: { spent: number; left: number } }[];
  expect(run?.gas).toEqual({ spent: leased, left: 48 - leased });
});
