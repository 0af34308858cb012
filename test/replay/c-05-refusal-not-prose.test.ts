import { expect, test } from "vitest";
import { handedOut, heardBy, idOf, seat, shipped } from "../support/replay.ts";
import { logBytes } from "../support/scripted-run.ts";

const product = shipped();

test("C-05: the injection is short, and a step taken out of turn is refused by code, with the command that is due", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const told = await handedOut(session, "scout");
  const text = heardBy("claude", await session.hook("claude", "SessionStart", { source: "compact" })) as string;
  expect(text.split("\n")).toHaveLength(3);

  const run = ["--run", idOf(told), "--claim", told.claim];
  const before = logBytes(world);
  for (const words of [
    ["submit", ...run, "--slot", "triage", "--file", "check.js"],
    ["submit", ...run, "--slot", "plan", "--file", "check.js"],
    ["submit", ...run, "--slot", "coder", "--file", "check.js"],
    ["submit", ...run, "--slot", "security", "--file", "check.js"],
    ["submit", ...run, "--slot", "scout"],
    ["answer", ...run, "--gate", "output", "--choice", "apply"],
    ["answer", ...run, "--gate", "approve-command", "--choice", "approve"],
    ["rollback", ...run, "--to", "1"],
    ["resume", ...run, "--redo", "coder"],
  ]) {
    const { code, refused } = await session.run(...words);
    expect([code, refused?.code], words.join(" ")).toEqual([3, expect.stringMatching(/^[a-z]+\.[a-z_]+$/)]);
    expect(refused.fix, words.join(" ")).toMatch(/\batlas [a-z]/);
  }
  // Verifying too early is no way past the scout either: what is due is said again.
  const early = await session.run("verify", ...run);
  expect(early.next ?? early.refused).toBeDefined();
  expect(logBytes(world)).toBe(before);
  expect((await session.run("next", ...run)).next).toEqual(told.next);
});
