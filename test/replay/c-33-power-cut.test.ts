import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentOf, handedOut, idOf, seat, shipped } from "../support/replay.ts";
import { workOf } from "../support/scripted-agents.ts";
import { eventsOf, gitIn, runFolder } from "../support/scripted-run.ts";

const product = shipped();

test("C-33: after a power cut one command mends the tail, keeps the half-written tree, and says what was lost", async () => {
  const world = product.world();
  const a = await seat(world, 1);
  const told = await handedOut(a.session, "coder");
  const { root } = workOf(agentOf(told));
  writeFileSync(join(root, "half.txt"), "half of a th");
  const before = eventsOf(world);
  appendFileSync(join(runFolder(world), "log.jsonl"), '\n{"v":1,"seq":99,"prev":"0123');
  await a.host.kill();

  const b = await seat(world, 2);
  const resumed = await b.session.run("resume");
  expect(resumed.did.slice(0, 2), resumed.stdout).toEqual([
    "claimed epoch 2",
    expect.stringMatching(/^passed over 28 bytes behind line \d+: never whole, never acknowledged$/),
  ]);
  expect(resumed.did).toContain("ended coder#1@1 (lost)");
  expect(resumed.next).toMatchObject({ do: "dispatch", agents: [{ slot: "coder" }] });
  expect(eventsOf(world).slice(0, before.length)).toEqual(before);
  const [ref] = gitIn(world.project, "for-each-ref", "--format=%(refname)", `refs/atlas/${idOf(told)}/`).split("\n");
  expect(gitIn(world.project, "show", `${ref}:half.txt`)).toBe("half of a th");
  // Mended is mended.
  const again = await b.session.run("resume");
  expect([again.did, again.next]).toEqual([["reattached epoch 2"], resumed.next]);
  const doctor = (await b.session.run("doctor")).json.checks as readonly { name: string; ok: boolean }[];
  expect(doctor.filter(({ name, ok }) => name.startsWith("ledger") && !ok)).toEqual([]);
});
