import { expect, test } from "vitest";
import { handedOut, heardBy, idOf, seat, shipped } from "../support/replay.ts";
import type { Session } from "../support/scripted-run.ts";

const product = shipped();

test("C-09: a host may drop what a session's start says: until a command shows it was heard, the first prompt says it once more; doctor tells the way it came", async () => {
  const world = product.world();
  const a = await seat(world, 1);
  const id = idOf(await handedOut(a.session, "scout"));
  await a.host.kill();

  const b = await seat(world, 2);
  const prompt = async (session: Session) =>
    heardBy("claude", await session.hook("claude", "UserPromptSubmit", { prompt: "hello" }));
  const hooks = async (session: Session) => {
    const { checks } = (await session.run("doctor")).json as {
      checks: { name: string; ok: boolean; detail: string }[];
    };
    return checks.find(({ name }) => name === "hooks");
  };
  const way = (words: string) => expect.objectContaining({ ok: true, detail: expect.stringContaining(words) });
  expect(await hooks(b.session)).toEqual(
    way("said at the session's start and not followed yet; the next prompt says it again"),
  );
  expect(await prompt(b.session)).toContain(`Now run: atlas resume --run ${id}`);
  expect(await prompt(b.session)).toBeNull();
  expect(await hooks(b.session)).toEqual(way("said with a prompt and not followed yet"));
  await b.session.run("resume");
  expect(await hooks(b.session)).toEqual(way("came with a prompt and was followed"));

  // Heard and followed: not a word more.
  await b.session.hook("claude", "SessionStart", { source: "compact" });
  await b.session.run("next");
  expect(await prompt(b.session)).toBeNull();
  expect(await hooks(b.session)).toEqual(way("came at the session's start and was followed"));
});
