/** The real Kimi Code: what its model sees of an unfinished run, and whole runs that only do what was printed. */
import { expect, test, vi } from "vitest";
import { type Conversation, heard, say } from "../../support/mock-model.ts";
import { isSummaryAsked, obey } from "../../support/obeying-model.ts";
import { everySlot, expectDone, slotsOf } from "./expected.ts";
import { hold, isAgentAsked, isCoderDone } from "./hold.ts";
import { kimiHands, kimiModel, runKimi, serveKimi } from "./kimi-code.ts";
import { leaveRunBehind, makeWorld, onlyRun, sessionRecord } from "./world.ts";

const windowTokens = 262_144;

test("takes the plugin, shows the skill at the start and after a compaction, and the pointer with the next prompt", async () => {
  const world = makeWorld();
  const model = await kimiModel((asked) => (isSummaryAsked(asked) ? null : say("ok")));
  const web = await serveKimi({ world, model });
  expect(await web.get("/plugins")).toMatchObject({
    data: { plugins: [{ id: "atlas", state: "ok", hasErrors: false }] },
  });
  const session = await web.open();
  const prompt = async (text: string): Promise<Conversation> => {
    await web.post(`/sessions/${session}/prompts`, { content: [{ type: "text", text }] });
    return await model.until((asked) => heard(asked).includes(text));
  };
  const first = await prompt("Hello.");
  expect(skillIn(first)).toContain(
    `"${world.plugin}/skills/atlas-resume/../../dist/atlas.cjs" resume --session ${session}`,
  );
  const id = await leaveRunBehind(world);
  // Without a compaction nothing is owed.
  expect(heard(await prompt("And then?"))).not.toContain("<hook_result");
  await vi.waitFor(() => web.post(`/sessions/${session}:compact`, {}), 10_000);
  await model.until(isSummaryAsked);
  // The hook after a compaction is not waited for by the host.
  await vi.waitFor(() => expect(sessionRecord(world, session).compactions).toBe(1), 10_000);
  const after = await prompt("Go on.");
  expect(heard(after)).toContain("compacted");
  expect(skillIn(after)).not.toBe("");
  const facts = `atlas: unfinished run. kind=change run=${id} stage=INTENT_CAPTURED refine=0/2 done=2/8 owner=gone`;
  const command = `node "${world.plugin}/dist/atlas.cjs" resume --run ${id} --session ${session}`;
  expect(heard(after)).toContain(`<hook_result hook_event="UserPromptSubmit">\n${facts}\nNow run: ${command}\n`);
});

test("the skill takes a run up and follows it to its end; another session of the same server is refused", async () => {
  const world = makeWorld();
  const id = await leaveRunBehind(world);
  const held = hold(isAgentAsked);
  // The context is full with the answer that starts the coder.
  const model = await kimiModel(async (asked) => {
    await held.before(asked);
    const reply = obey(asked, kimiHands);
    const isFull = reply.calls.some(({ input }) => String(input.prompt).includes("coder"));
    return isFull ? { ...reply, inputTokens: windowTokens - 10_000 } : reply;
  });
  const web = await serveKimi({ world, model });
  const activate = async (): Promise<string> => {
    const session = await web.open();
    await web.post(`/sessions/${session}/skills/atlas-resume:activate`, { args: "" });
    return session;
  };
  await activate();
  await held.reachedBy(web.host);
  const other = await activate();
  const refused = await model.until(
    (asked) => heard(asked).includes("refused run.owned: ") && asked.body.includes(other),
  );
  expect(heard(refused)).toContain('User activated the skill "atlas-resume"');
  expect(onlyRun(world)).toMatchObject({ id, isFinished: false });
  held.release();
  await model.until((asked) => /^do: report (un)?verified$/m.test(heard(asked)), 60_000);
  expect(model.asked.some(isSummaryAsked)).toBe(true);
  expectDone(world, [1, 2]);
  expect(slotsOf(model)).toEqual(everySlot);
});

test("is killed while an agent works; the next session finds the run by the skill and ends it", async () => {
  const world = makeWorld();
  const held = hold(isCoderDone);
  const model = await kimiModel(held.before);
  const first = runKimi({ world, model }, `Do it.\nRun: node "${world.cli}" ${world.start.join(" ")}`);
  await held.reachedBy(first);
  await first.kill();
  held.release();
  const next = await kimiModel();
  const done = await runKimi({ world, model: next }, "Go on.").ended;
  expect(skillIn(next.asked[0]!)).not.toBe("");
  expect(done.stdout).toMatch(/do: report (un)?verified$/m);
  expectDone(world, [1, 2], ["coder"]);
  expect(slotsOf(next)).toEqual(everySlot.filter((slot) => slot !== "scout"));
});

function skillIn(asked: Conversation): string {
  const shape = /<plugin_session_start plugin="atlas" skill="atlas-resume">([\s\S]*)<\/plugin_session_start>/;
  return shape.exec(heard(asked))?.[1] ?? "";
}
