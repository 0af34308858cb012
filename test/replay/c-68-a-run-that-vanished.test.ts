import { renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { handedOut, heardBy, idOf, livingHost, runsIn, seat, shipped } from "../support/replay.ts";
import { gitIn, runFolder, sessionId, sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-68: a run that vanished with its folder is named at the next session's start, whoever's it was; doctor says where it lay", async () => {
  const world = product.world();
  const a = await seat(world, 1);
  const id = idOf(await handedOut(a.session, "scout"));
  const folder = runFolder(world);
  await a.host.kill();
  // As `git clean` does it: with all that git ignores goes our folder.
  const aside = join(dirname(world.project), "aside");
  renameSync(join(world.project, ".atlas"), aside);
  gitIn(world.project, "clean", "-qxfd");
  expect(runsIn(world.project)).toEqual([]);

  const start = async (n: number) => {
    const session = sit(world, { host: livingHost(), session: sessionId(n) });
    return { session, said: heardBy("claude", await session.hook("claude", "SessionStart", { source: "startup" })) };
  };
  const { session: b, said } = await start(2);
  expect(said).toBe(`atlas: run ${id} lost its ledger; atlas doctor explains.`);
  expect((await start(3)).said).toBeNull();
  const { checks } = (await b.run("doctor")).json as { checks: { name: string; detail: string; fix: string }[] };
  const lost = checks.find(({ name }) => name === `lost run ${id}`);
  expect(lost?.detail).toContain(`it lost its ledger at ${folder}`);

  // Brought back it is a run like any other; gone again it is named once more, and forgotten on the human's word.
  renameSync(aside, join(world.project, ".atlas"));
  expect((await b.run("resume")).next).toMatchObject({ do: "dispatch" });
  rmSync(lost?.fix.replace(/^rm /, "") as string);
  renameSync(join(world.project, ".atlas"), aside);
  expect(((await b.run("doctor")).json.checks as { name: string }[]).map(({ name }) => name)).not.toContain(
    `lost run ${id}`,
  );
});
