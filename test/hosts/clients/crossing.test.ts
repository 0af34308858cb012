/** From one host to the other: the run is the same, whoever goes on with it. */
import { expect, test } from "vitest";
import { claudeModel, runClaude } from "./claude-code.ts";
import { everySlot, expectDone, slotsOf } from "./expected.ts";
import { hold, isCoderDone } from "./hold.ts";
import { claudeVersions } from "./install.ts";
import { kimiModel, runKimi, serveKimi } from "./kimi-code.ts";
import { leaveRunBehind, makeWorld, onlyRun } from "./world.ts";

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

test("a run gone on with in a server of Kimi Code that is killed while its coder works is ended in Claude Code", async () => {
  const world = makeWorld();
  await leaveRunBehind(world);
  const held = hold(isCoderDone);
  const web = await serveKimi({ world, model: await kimiModel(held.before) });
  await web.post(`/sessions/${await web.open()}/skills/atlas-resume:activate`, { args: "" });
  await held.reachedBy(web.host);
  await web.host.kill();
  held.release();
  const model = await claudeModel();
  const done = await runClaude({ version: claudeVersions[0], world, model }, "Go on.").ended;
  expect(done.stdout).toMatch(/^do: report (un)?verified$/m);
  expectDone(world, [1, 2, 3], ["coder"]);
  expect(slotsOf(model)).toEqual(everySlot.filter((slot) => slot !== "scout"));
  const owners = onlyRun(world).events.flatMap(({ type, owner }) => (type === "claimed" ? [owner] : []));
  expect(owners.slice(1)).toMatchObject([{ host: "kimi" }, { host: "claude" }]);
});
