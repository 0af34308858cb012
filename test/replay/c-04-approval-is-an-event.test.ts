import { expect, test } from "vitest";
import { heardBy, idOf, refusal, seat, shipped } from "../support/replay.ts";
import { begin, eventsOf, logBytes, request, scripted, typeWords } from "../support/scripted-run.ts";

const product = shipped();

test("C-04: approval is an event: without it a compacted session stands at the same question, and no code step is taken", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const told = await scripted(session).go(await begin(session, request), (next) => next.do === "ask");
  expect(told.next).toMatchObject({ do: "ask", gate: "pre-code" });
  const run = ["--run", idOf(told), "--claim", told.claim];
  const before = logBytes(world);

  const pointer = heardBy("claude", await session.hook("claude", "SessionStart", { source: "compact" }));
  expect(pointer).toContain("stage=GROUNDED");
  for (const verb of ["resume", "next"]) expect((await session.run(verb, ...run)).next, verb).toEqual(told.next);
  for (const words of [
    ["submit", ...run, "--slot", "coder"],
    ["resume", ...run, "--redo", "coder"],
  ]) {
    expect((await session.run(...words)).code, words.join(" ")).toBe(3);
  }
  const verify = await session.run("verify", ...run);
  expect(verify.next ?? verify.refused, verify.stdout).not.toMatchObject({ do: "dispatch" });
  expect(logBytes(world)).toBe(before);
  // Nor is a command run on a model's word that somebody approved.
  const coded = await session.run("answer", ...run, "--gate", "pre-code", "--choice", "approve");
  const ask = coded.next as { readonly gate: string; readonly nonce: string };
  expect(ask).toMatchObject({ do: "ask", gate: "approve-command" });
  const relayed = ["answer", ...run, "--gate", ask.gate, "--nonce", ask.nonce, "--choice", "approve"];
  expect(refusal(await session.run(...relayed))).toEqual([3, "gate.unattested"]);
  expect(eventsOf(world).filter(({ type, slot }) => type === "leased" && slot === "coder")).toEqual([]);
  await typeWords(session, "claude", `atlas ${ask.nonce} approve`);
  expect((await session.run(...relayed)).next).toMatchObject({ do: "dispatch", agents: [{ slot: "coder" }] });
});
