import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { handedOut, seat, shipped } from "../support/replay.ts";
import { eventsOf, sessionId } from "../support/scripted-run.ts";

const product = shipped();

test("C-21: without a usable CLAUDE_ENV_FILE the session is known all the same; what is exported carries our name", async () => {
  const world = product.world();
  const folder = join(dirname(world.project), "exports");
  mkdirSync(folder);
  const file = join(folder, "exports.sh");
  for (const [n, value] of ["", "/proc/nowhere/x", folder, file].entries()) {
    const { host, session } = await seat(world, n + 1, { env: { CLAUDE_ENV_FILE: value } });
    const told = n === 0 ? await handedOut(session, "scout") : await session.run("resume");
    expect(told.code, told.stdout + told.stderr).toBe(0);
    expect(eventsOf(world).findLast(({ type }) => type === "claimed")).toMatchObject({
      owner: { session: sessionId(n + 1), pid: host.pid },
    });
    await host.kill();
  }
  const names = [...readFileSync(file, "utf8").matchAll(/^(?:export )?([A-Za-z_]+)=/gm)].map(([, name]) => name);
  expect(names).toEqual(["ATLAS_SESSION_ID"]);
});
