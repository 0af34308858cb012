import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentOf, commandIn, handedOut, heardBy, hookCommands, leaveResult, seat, shipped } from "../support/replay.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { scout } from "../support/scripted-agents.ts";
import { eventsOf } from "../support/scripted-run.ts";

const product = shipped();

test("C-11: no event before a compaction is needed: the ledger is durable at each step, for whoever comes after", async () => {
  for (const host of ["claude", "kimi"] as const) expect([...hookCommands(host).keys()]).not.toContain("PreCompact");
  expect(readFileSync(join(repositoryRoot, "plugin.json"), "utf8")).not.toContain("PreCompact");

  // Killed behind each printed word: no hook of an end, none of a compaction.
  const world = product.world();
  let now = await seat(world, 1);
  let told = await handedOut(now.session, "scout");
  for (const n of [2, 3]) {
    await now.host.kill();
    now = await seat(world, n);
    const pointer = heardBy("claude", await now.session.hook("claude", "SessionStart", { source: "compact" }));
    told = await now.session.type(commandIn(pointer));
    expect(agentOf(told)).toMatchObject({ slot: "scout", lease: `scout#${n}@${n}` });
  }
  leaveResult(agentOf(told), scout);
  expect((await now.session.type(agentOf(told).then)).next).toMatchObject({ do: "submit", slot: "plan" });
  expect(
    eventsOf(world)
      .filter(({ type }) => type === "filled")
      .map(({ slot }) => slot),
  ).toEqual(["triage", "scout"]);
});
