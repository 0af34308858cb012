/** From one host to the other: the run is the same, whoever goes on with it. */
import { expect, test } from "vitest";
import { claudeModel, runClaude } from "./claude-code.ts";
import { everySlot, expectDone, slotsOf } from "./expected.ts";
import { hold, isCoderDone } from "./hold.ts";
import { claudeVersions } from "./install.ts";
import { kimiModel, runKimi } from "./kimi-code.ts";
import { makeWorld, onlyRun } from "./world.ts";

test("a run begun in Claude Code and killed there while its coder works is ended in Kimi Code", async () => {
  const world = makeWorld();
  const held = hold(isCoderDone);
  const begun = await claudeModel(held.before);
  const prompt = `Do it.\nRun: atlas ${world.start.join(" ")}`;
  const claude = runClaude({ version: claudeVersions[0], world, model: begun }, prompt);
  await held.reachedBy(claude);
  await claude.kill();
  held.release();
  const model = await kimiModel();
  const done = await runKimi({ world, model }, "Go on.").ended;
  expect(done.stdout).toMatch(/do: report (un)?verified$/m);
  expectDone(world, [1, 2], ["coder"]);
  expect(slotsOf(model)).toEqual(everySlot.filter((slot) => slot !== "scout"));
  const owners = onlyRun(world).events.flatMap(({ type, owner }) => (type === "claimed" ? [owner] : []));
  expect(owners).toMatchObject([{ host: "claude" }, { host: "kimi" }]);
});
