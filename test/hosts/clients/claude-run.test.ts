/** A whole run in the real Claude Code: its model only does what was printed to it. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { heard } from "../../support/mock-model.ts";
import { isSummaryAsked, obey } from "../../support/obeying-model.ts";
import { claudeHands, claudeModel, claudeProgram, runClaude } from "./claude-code.ts";
import { everySlot, expectDone, slotsOf } from "./expected.ts";
import { hold, isAgentAsked, isCoderDone } from "./hold.ts";
import { claudeVersions } from "./install.ts";
import { makeWorld, onlyRun, type World } from "./world.ts";

const newest = claudeVersions[0];

describe.each(claudeVersions)("Claude Code %s", (version) => {
  test("takes the plugin for a valid one", () => {
    const { plugin, project, env } = makeWorld();
    const words = ["plugin", "validate", "--strict", plugin];
    const done = spawnSync(claudeProgram(version), words, { cwd: project, env, encoding: "utf8", timeout: 60_000 });
    expect(done.stdout + done.stderr).toContain("Validation passed");
    expect(done.status).toBe(0);
  });

  test("follows a run to its end; a second session in the middle is told to leave it", async () => {
    const world = makeWorld();
    const held = hold(isAgentAsked);
    const model = await claudeModel(held.before);
    const first = runClaude({ version, world, model }, prompt(world));
    await held.reachedBy(first);
    const second = await claudeModel();
    const other = await runClaude({ version, world, model: second }, "Do it.\nRun: atlas resume").ended;
    const [opening] = second.asked;
    expect(heard(opening!)).toContain(`atlas: run ${onlyRun(world).id} belongs to another live session; leave it.`);
    expect(heard(opening!)).not.toContain("Now run:");
    expect(other.stdout).toMatch(/^refused run\.owned: /m);
    held.release();
    const done = await first.ended;
    expect(done.stdout).toMatch(/^do: report (un)?verified$/m);
    expect(done.code).toBe(0);
    expectDone(world, [1]);
    expect(slotsOf(model)).toEqual(everySlot);
  });

  test("is killed while an agent works; the next session finds the run by the pointer and ends it", async () => {
    const world = makeWorld();
    const held = hold(isCoderDone);
    const model = await claudeModel(held.before);
    const first = runClaude({ version, world, model }, prompt(world));
    await held.reachedBy(first);
    await first.kill();
    held.release();
    const next = await claudeModel();
    const done = await runClaude({ version, world, model: next }, "Go on.").ended;
    const { id } = onlyRun(world);
    expect(heard(next.asked[0]!)).toContain(
      `stage=GROUNDED refine=0/2 done=4/8 owner=gone\nNow run: atlas resume --run ${id}`,
    );
    expect(done.stdout).toMatch(/^do: report (un)?verified$/m);
    expectDone(world, [1, 2], ["coder"]);
    // What was finished before the kill is not done again.
    expect(slotsOf(next)).toEqual(everySlot.filter((slot) => slot !== "scout"));
  });
});

test(`Claude Code ${newest} compacts in the middle of a run, and it goes on in the same epoch`, async () => {
  const world = makeWorld();
  // With the answer that starts the coder the context is full; what is left of it knows of no run.
  const model = await claudeModel((asked) => {
    const reply = obey(asked, claudeHands);
    return reply.calls.some(({ input }) => String(input.prompt).includes("coder"))
      ? { ...reply, inputTokens: 150_000 }
      : reply;
  });
  const done = await runClaude({ version: newest, world, model }, prompt(world), ["--autocompact", "100000"]).ended;
  const at = model.asked.findIndex(isSummaryAsked);
  expect(at).toBeGreaterThan(0);
  const after = model.asked[at + 1]!;
  expect(heard(after)).toContain(`owner=ours\nNow run: atlas resume --run ${onlyRun(world).id}`);
  expect(done.stdout).toMatch(/^do: report (un)?verified$/m);
  expectDone(world, [1]);
  expect(slotsOf(model)).toEqual(everySlot);
});

function prompt(world: World): string {
  return `Do it.\nRun: atlas ${world.start.join(" ")}`;
}
