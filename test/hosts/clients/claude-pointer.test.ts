/** What the real Claude Code lets its model see of an unfinished run: at each beginning, and after each compaction. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Conversation, heard, say } from "../../support/mock-model.ts";
import { isSummaryAsked, obey } from "../../support/obeying-model.ts";
import { claudeHands, claudeModel, openClaude, runClaude, talkToClaude } from "./claude-code.ts";
import { claudeVersions } from "./install.ts";
import { leaveRunBehind, makeWorld, onlyRun, sessionRecord } from "./world.ts";

const newest = claudeVersions[0];
const fullTokens = 150_000;

/** A model with nothing to do, that summarises when it is asked to. */
const idle = (asked: Conversation) => (isSummaryAsked(asked) ? null : say("ok"));

describe.each(claudeVersions)("Claude Code %s", (version) => {
  test("shows the pointer when a session starts, is resumed or is forked", async () => {
    const world = makeWorld();
    const model = await claudeModel(idle);
    const session = randomUUID();
    await runClaude({ version, world, model }, "Hello.", ["--session-id", session]).ended;
    // The skill "atlas" of the plugin is listed as "atlas:atlas: …", so the pointer's own words are looked for.
    expect(heard(model.asked.at(-1)!)).not.toContain("atlas: unfinished run");
    // The run comes after the session, so what follows is said by the hook of the resumed one.
    const id = await leaveRunBehind(world);
    await runClaude({ version, world, model }, "Go on.", ["--resume", session, "--fork-session"]).ended;
    expectPointer(model.asked.at(-1), id);
    await runClaude({ version, world, model }, "Go on.", ["--resume", session]).ended;
    expectPointer(model.asked.at(-1), id);
    await runClaude({ version, world, model }, "Hello.").ended;
    expectPointer(model.asked.at(-1), id);
  });

  test("a manual compaction ends with the pointer, and with the two lines of PostCompact", async () => {
    const world = makeWorld();
    const model = await claudeModel(idle);
    const session = randomUUID();
    const talk = talkToClaude({ version, world, model }, ["--session-id", session]);
    for (const prompt of ["Hello.", "And then?", "And then?"]) await talk.say(prompt);
    const id = await leaveRunBehind(world);
    expect(sessionRecord(world, session).compactions).toBe(0);
    await talk.say("/compact");
    expect(sessionRecord(world, session).compactions).toBe(1);
    expect(model.asked.some(isSummaryAsked)).toBe(true);
    await talk.say("Go on.");
    const last = model.asked.at(-1)!;
    expect(heard(last)).not.toContain("And then?");
    expectPointer(last, id);
    const command = /<local-command-stdout>([\s\S]*?)<\/local-command-stdout>/.exec(heard(last))?.[1];
    expect(command).toMatch(
      new RegExp(
        `PostCompact \\[.+\\] completed successfully: atlas: unfinished run\\. .*run=${id}.*\nNow run: atlas resume --run ${id}$`,
      ),
    );
  });

  test("an automatic compaction ends with the pointer", async () => {
    const world = makeWorld();
    const model = await claudeModel((asked) => (isSummaryAsked(asked) ? null : say("ok", fullTokens)));
    const session = randomUUID();
    const more = version === newest ? ["--autocompact", "100000"] : [];
    const talk = talkToClaude({ version, world, model }, [...more, "--session-id", session]);
    for (const prompt of ["Hello.", "And then?"]) await talk.say(prompt);
    const id = await leaveRunBehind(world);
    const before = model.asked.length;
    await talk.say("Go on.");
    const after = model.asked.slice(before);
    expect(after.some(isSummaryAsked)).toBe(true);
    expectPointer(
      after.find((asked) => !isSummaryAsked(asked)),
      id,
    );
    // PostCompact records it, and is not heard here.
    expect(sessionRecord(world, session).compactions).toBeGreaterThan(0);
    expect(after.some((asked) => asked.body.includes("PostCompact ["))).toBe(false);
  });

  test("loads the skill by its name, and its first command takes the run up", async () => {
    const world = makeWorld();
    const id = await leaveRunBehind(world);
    const model = await claudeModel((asked) =>
      asked.spoken.some(isAnswered) ? say("enough") : obey(asked, claudeHands),
    );
    await runClaude({ version, world, model }, "/atlas:atlas-resume").ended;
    const [first, second] = model.asked;
    expect(heard(first!)).toContain("<command-name>/atlas:atlas-resume</command-name>");
    expect(heard(first!)).toContain("# Carry on an unfinished run");
    expect(heard(second!)).toContain(`${id} kind=change`);
    expect(heard(second!)).toMatch(/^do: submit triage$/m);
  });
});

test.each(claudeVersions)(
  "Claude Code %s shows the pointer after /clear, and the run it has let go is taken up again",
  async (version) => {
    const world = makeWorld();
    const id = await leaveRunBehind(world);
    const model = await claudeModel((asked) =>
      asked.spoken.some(isAnswered) ? say("enough") : obey(asked, claudeHands),
    );
    const screen = await openClaude({ version, world, model });
    const told = (prompt: string) =>
      model.asked.find((asked) => heard(asked).includes(prompt) && asked.spoken.some(isAnswered));
    await screen.enter("Hello.", () => told("Hello.") !== undefined);
    expect(heard(told("Hello.")!)).toMatch(/^do: submit triage$/m);
    await screen.enter("/clear", () => onlyRun(world).events.some(({ type }) => type === "released"));
    await screen.enter("Go on.", () => told("Go on.") !== undefined);
    const last = told("Go on.")!;
    expect(heard(last)).not.toContain("Hello.");
    expect(heard(last)).toContain(`done=2/8 owner=released\nNow run: atlas resume --run ${id}`);
    expect(heard(last)).toMatch(/^do: submit triage$/m);
    expect(onlyRun(world).claims).toEqual([1, 2, 3]);
  },
);

function isAnswered(spoken: Conversation["spoken"][number]): boolean {
  return spoken.by === "host" && spoken.from === "tool";
}

function expectPointer(asked: Conversation | undefined, id: string): void {
  const facts = `atlas: unfinished run. kind=change run=${id} stage=INTENT_CAPTURED refine=0/2 done=2/8 owner=gone`;
  const rest = "Then do only what it prints. Never redo finished stages; state is on disk, not in this conversation.";
  expect(asked === undefined ? "" : heard(asked)).toContain(`${facts}\nNow run: atlas resume --run ${id}\n${rest}`);
}
