import { expect, test } from "vitest";
import { handedOut, livingHost, seat, shipped } from "../support/replay.ts";
import { eventsOf, sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-28: of eight that ask for one run at once exactly one gets the step; the others are told who, since when, and the way", async () => {
  const world = product.world();
  const first = await seat(world, 1);
  await handedOut(first.session, "scout");
  await first.host.kill();
  const hosts = Array.from({ length: 8 }, livingHost);
  const told = await Promise.all(hosts.map((host) => sit(world, { host }).run("resume")));
  const winner = told.findIndex(({ code }) => code === 0);
  expect(told.map(({ code }) => code).sort()).toEqual([0, 3, 3, 3, 3, 3, 3, 3]);
  expect(told[winner]?.next).toMatchObject({ do: "dispatch", agents: [{ lease: "scout#2@2" }] });
  for (const { refused } of told.filter(({ code }) => code === 3)) {
    expect(refused.code).toBe("run.owned");
    expect(refused.reason).toMatch(
      new RegExp(`belongs to process ${hosts[winner]?.pid} .* since \\d{4}-\\d\\d-\\d\\dT`),
    );
    expect(refused.fix).toMatch(/--take-over$/);
  }
  expect(eventsOf(world).filter(({ type }) => type === "leased" || type === "claimed")).toHaveLength(4);
});
