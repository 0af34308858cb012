/** A model of the real Claude Code that ends its turn in the middle of a run: the Stop hook gives it the next command. */
import { describe, expect, test } from "vitest";
import { type Conversation, heard, say } from "../../support/mock-model.ts";
import { promptOf } from "../../support/obeying-agent.ts";
import { claudeModel, runClaude } from "./claude-code.ts";
import { everySlot, expectDone, slotsOf } from "./expected.ts";
import { claudeVersions } from "./install.ts";
import { makeWorld, onlyRun, type World } from "./world.ts";

const held = "is not over, and its next step is yours.";

describe.each(claudeVersions)("Claude Code %s", (version) => {
  test("a model that stops where an agent is to be started gets the next command, and the run goes on to its end", async () => {
    const world = makeWorld();
    let stops = 0;
    const model = await claudeModel((asked) => {
      if (stops > 0 || !isDispatched(asked)) return null;
      stops += 1;
      return say("All done.");
    });
    const done = await runClaude({ version, world, model }, prompt(world)).ended;
    expect(done.code).toBe(0);
    const { id } = onlyRun(world);
    const nudged = model.asked.filter((asked) => lastWords(asked).includes(held));
    expect(nudged).toHaveLength(1);
    expect(lastWords(nudged[0]!)).toContain(`atlas: run ${id} ${held}\nNow run: atlas resume --run ${id}\n`);
    expectDone(world, [1]);
    expect(slotsOf(model)).toEqual(everySlot);
    // The finished run holds nobody up.
    expect(done.stdout).toMatch(/^do: report (un)?verified$/m);
  });

  test("a model that stops again at the same step is let go", async () => {
    const world = makeWorld();
    const model = await claudeModel((asked) => (isDispatched(asked) ? say("All done.") : null));
    const done = await runClaude({ version, world, model }, prompt(world)).ended;
    expect([done.code, done.stdout.trim()]).toEqual([0, "All done."]);
    expect(model.asked.filter((asked) => lastWords(asked).includes(held))).toHaveLength(1);
    expect(onlyRun(world)).toMatchObject({ isFinished: false, leased: ["scout"] });
  });
});

function isDispatched(asked: Conversation): boolean {
  return promptOf(asked) === null && /^do: dispatch/m.test(heard(asked));
}

function lastWords(asked: Conversation): string {
  const at = asked.spoken.findLastIndex(({ by }) => by === "model");
  return heard({ ...asked, spoken: asked.spoken.slice(at + 1) });
}

function prompt(world: World): string {
  return `Do it.\nRun: atlas ${world.start.join(" ")}`;
}
