import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idOf, refusal, seat, shipped } from "../support/replay.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { begin, logBytes, request, scripted, typeWords } from "../support/scripted-run.ts";

const product = shipped();

test("C-66: at a human gate with nobody there the run waits on disk, hangs on nothing, approves nothing by itself, and is answered later", async () => {
  const world = product.world();
  const a = await seat(world, 1);
  const run = scripted(a.session);
  const approve = await run.go(
    await begin(a.session, request),
    (next) => next.do === "ask" && next.gate === "approve-command",
  );
  const ask = approve.next as { readonly nonce: string; readonly then: string };
  const before = logBytes(world);
  // The host's model makes an answer up, and its process ends.
  const madeUp = await a.session.type(ask.then.replace("CHOICE", "approve"));
  expect(refusal(madeUp)).toEqual([3, "gate.unattested"]);
  const polled = await a.session.run("resume", "--run", idOf(approve), "--wait", "1");
  expect([polled.code, polled.next]).toEqual([0, approve.next]);
  expect(logBytes(world)).toBe(before);
  await a.host.kill();

  // Another day, another host.
  const b = await seat(world, 2);
  const waiting = await b.session.run("resume");
  expect(waiting.next).toMatchObject({ do: "ask", gate: "approve-command", nonce: ask.nonce });
  await typeWords(b.session, "claude", `atlas ${ask.nonce} approve`);
  const then = (waiting.next as { readonly then: string }).then.replace("CHOICE", "approve");
  expect((await b.session.type(then)).next).toMatchObject({ do: "dispatch", agents: [{ slot: "coder" }] });
});

test("C-66: the exit codes are documented", () => {
  const help = readFileSync(join(repositoryRoot, "scripts", "verbs", "help.ts"), "utf8");
  for (const code of [0, 1, 2, 3, 4]) expect(help).toMatch(new RegExp(`\\b${code} [a-z]`));
});
