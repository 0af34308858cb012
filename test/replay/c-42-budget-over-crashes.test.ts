import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunId } from "../../scripts/core/ids.ts";
import { decideAs } from "../../scripts/engine/change-run.ts";
import { ownEngine } from "../support/own-engine.ts";
import { handedOut, idOf, seat, shipped } from "../support/replay.ts";
import { eventsOf, runFolder, typeWords } from "../support/scripted-run.ts";

const product = shipped();

test("C-42: the budget is the sum over all attempts and crashes, a grant is recorded, and status shows spent and left", async () => {
  const world = product.world();
  let now = await seat(world, 1);
  const told = await handedOut(now.session, "scout", {}, []);
  const id = idOf(told);
  // Most of it is spent by agents that came to nothing.
  const folder = {
    id: id as RunId,
    root: world.project,
    atlas: join(world.project, ".atlas"),
    ledger: runFolder(world),
    adopted: false,
  };
  const engine = ownEngine(world);
  for (let issued = 1; issued < 45; issued += 1) {
    decideAs(engine, folder, told.claim, { do: "end-lease", lease: `scout#${issued}@1`, why: "redo" });
    decideAs(engine, folder, told.claim, { do: "hand-out" });
  }
  const budget = async () => {
    const [run] = (await now.session.run("status")).json.runs as { gas: { spent: number; left: number } }[];
    return run?.gas;
  };
  expect(await budget()).toEqual({ spent: 45, left: 3 });
  for (const n of [2, 3, 4, 5]) {
    await now.host.kill();
    now = await seat(world, n);
    const { next } = await now.session.run("resume");
    expect(next.do).toBe(n < 5 ? "dispatch" : "ask");
  }
  expect(await budget()).toEqual({ spent: 48, left: 0 });
  const ask = (await now.session.run("resume")).next as { gate: string; nonce: string; then: string };
  expect(ask.gate).toBe("gas");
  const answer = ask.then.replace("CHOICE", "grant:1");
  expect((await now.session.type(answer)).refused.code).toBe("gate.unattested");
  await typeWords(now.session, "claude", `atlas ${ask.nonce} grant:1`);
  expect((await now.session.type(answer)).next).toMatchObject({ do: "dispatch" });
  expect(await budget()).toEqual({ spent: 49, left: 0 });
  const events = eventsOf(world);
  expect(events.filter(({ type }) => type === "gas-granted")).toMatchObject([
    { amount: 48 },
    { amount: 1, why: "gate" },
  ]);
  expect(events.filter(({ type }) => type === "leased")).toHaveLength(49);
});
