/** A person beside the real Claude Code: what he chooses in its own question is his word, seen by the hook. */
import { describe, expect, test } from "vitest";
import { heard } from "../../support/mock-model.ts";
import { claudeHands, claudeModel, runClaude, runClaudeWithHuman, type ShownQuestion } from "./claude-code.ts";
import { expectDone } from "./expected.ts";
import { claudeVersions } from "./install.ts";
import { makeWorld, onlyRun, type World } from "./world.ts";

describe.each(claudeVersions)("Claude Code %s", (version) => {
  test("puts each gate to the human as printed; the choice is graded as the host's, and no word is typed", async () => {
    const world = makeWorld();
    const model = await claudeModel();
    const shown: ShownQuestion[] = [];
    const human = (asked: ShownQuestion): string => {
      shown.push(asked);
      return /result\?/.test(asked.question) ? "discard" : "approve";
    };
    const done = await runClaudeWithHuman({ version, world, model }, interactive(world), human).ended;
    expect(done.code).toBe(0);
    const answers = onlyRun(world).events.filter(({ type }) => type === "answered");
    expect(answers.map(({ gate, choice, grade }) => [gate, choice, grade])).toEqual([
      ["pre-code", "approve", "host"],
      ["approve-command", "approve", "host"],
      ["output", "discard", "host"],
    ]);
    expect(shown.map(({ question }) => question.slice(-9, -1))).toEqual(answers.map(({ nonce }) => nonce));
    expect(shown.flatMap(({ options }) => options).every(({ description }) => description !== "")).toBe(true);
    expectDone(world, [1]);
  });

  test("a question the model has changed is nobody's approval: the command is refused, and nothing is run", async () => {
    const world = makeWorld();
    const harmless = (label: string) => ({ label, description: "Nothing happens" });
    const hands = {
      ...claudeHands,
      ask: (asked: ShownQuestion) =>
        claudeHands.ask!({ ...asked, options: asked.options.map(({ label }) => harmless(label)) }),
    };
    const model = await claudeModel(null, hands);
    const done = await runClaudeWithHuman({ version, world, model }, interactive(world), () => "approve").ended;
    expect(done.stdout).toMatch(/refused gate\.unattested: /);
    const run = onlyRun(world);
    const answers = run.events.filter(({ type }) => type === "answered");
    expect(answers.map(({ gate, grade }) => [gate, grade])).toEqual([["pre-code", "relayed"]]);
    expect(run.leased).not.toContain("coder");
  });
});

test("headless nobody is asked, and the model's own word approves nothing", async () => {
  const world = makeWorld();
  const model = await claudeModel();
  const done = await runClaude({ version: claudeVersions[0], world, model }, interactive(world)).ended;
  expect(done.stdout).toMatch(/^do: ask the human at gate pre-code$/m);
  expect(model.asked.some((asked) => asked.tools.includes("AskUserQuestion"))).toBe(false);
  expect(heard(model.asked.at(-1)!)).not.toContain("is not over");
});

function interactive(world: World): string {
  return `Do it.\nRun: atlas ${world.start.filter((word) => word !== "--headless").join(" ")}`;
}
