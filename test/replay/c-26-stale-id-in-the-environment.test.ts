import { expect, test } from "vitest";
import { handedOut, livingHost, refusal, seat, shipped } from "../support/replay.ts";
import { eventsOf, sessionId, sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-26: what stdin says beats the environment, which alone never claims; the difference is told", async () => {
  const world = product.world();

  // The stale id's own run: an environment that names it opens nothing.
  const old = await seat(world, 9);
  const stale = {
    CLAUDE_CODE_SESSION_ID: sessionId(9),
    ATLAS_SESSION_ID: sessionId(9),
    CLAUDE_PID: String(old.host.pid),
  };
  const mine = await handedOut(old.session, "scout");
  expect(refusal(await sit(world, { host: livingHost(), env: stale }).run("resume"))).toEqual([3, "run.owned"]);
  await old.host.kill();

  const { host, session } = await seat(world, 2, { env: stale });
  const told = await session.run("resume");
  expect(told.epoch, told.stdout).toBe(2);
  expect(eventsOf(world).findLast(({ type }) => type === "claimed")).toMatchObject({
    owner: { session: sessionId(2), pid: host.pid },
  });
  const checks = (await session.run("doctor")).json.checks as readonly { name: string; detail: string }[];
  expect(checks.find(({ name }) => name === "host")?.detail).toMatch(
    new RegExp(`session ${sessionId(2)}, from its record; CLAUDE_CODE_SESSION_ID names another`),
  );
  expect(mine.claim).not.toBe(told.claim);
});
