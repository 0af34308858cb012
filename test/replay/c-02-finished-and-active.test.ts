import { expect, test } from "vitest";
import { ended, handedOut, heardBy, idOf, seat, shipped } from "../support/replay.ts";
import { logBytes } from "../support/scripted-run.ts";

const product = shipped();

test("C-02: of a finished and an active run only the active one is injected; asked for more, the finished one says done", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const a = await ended(session);
  expect(a.next).toMatchObject({ do: "report" });
  const b = await handedOut(session, "scout");
  expect(idOf(b)).not.toBe(idOf(a));

  const text = heardBy("claude", await session.hook("claude", "SessionStart", { source: "compact" }));
  expect(text).toContain(`run=${idOf(b)} `);
  expect(text).not.toContain(idOf(a));
  const { json } = await session.run("status", "--all");
  expect(json.runs).toContainEqual(expect.objectContaining({ id: idOf(a), terminal: true, why: "finished" }));

  const before = logBytes(world, idOf(a));
  for (const verb of ["next", "resume"]) {
    const told = await session.run(verb, "--run", idOf(a));
    expect([told.code, told.next, told.did], verb).toEqual([0, a.next, []]);
  }
  expect(logBytes(world, idOf(a))).toBe(before);
  expect(idOf(await session.run("resume"))).toBe(idOf(b));
});
