/** A change of any size is handed to the critics: what cannot be shown is named, and git is not started once a file. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import { EnvironmentFailure } from "../../scripts/core/result.ts";
import type { Engine } from "../../scripts/engine/context.ts";
import type { Git } from "../../scripts/platform/git.ts";
import { readArguments } from "../../scripts/verbs/arguments.ts";
import type { Outcome } from "../../scripts/verbs/outcome.ts";
import { verify } from "../../scripts/verbs/verify.ts";
import { ownEngine } from "../support/own-engine.ts";
import { type Agent, signed } from "../support/scripted-agents.ts";
import { begin, builtPlugin, makeWorld, type Plugin, request, scripted, sit } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

const filesCount = 60;
const writing: Agent = (work) => {
  const folder = join(work.root, "src", "many");
  mkdirSync(folder);
  for (let at = 0; at < filesCount; at += 1) writeFileSync(join(folder, `f${at}.txt`), `${at}\n`);
  return signed(work, "done\nSTATUS: COMPLETE");
};

const nextOf = (outcome: Outcome) => outcome.json.next as Instruction;

/** Verifies with a git that says of every patch that it is too large, and counts what else is asked of it. */
async function verified() {
  const world = makeWorld(plugin, tempFolder());
  const session = sit(world);
  const run = scripted(session, { agents: { coder: writing } });
  const at = await run.go(await begin(session, request, "--headless"), (next) => next.do === "run");
  const { command } = at.next as Extract<Instruction, { do: "run" }>;
  const own = ownEngine(world);
  let sizeCalls = 0;
  const git: Git = {
    run(args, options) {
      if (args.includes("--patch"))
        throw new EnvironmentFailure("git.too_large", "git printed too much", "atlas doctor");
      if (args.includes("cat-file")) sizeCalls += 1;
      return own.git.run(args, options);
    },
  };
  const engine: Engine = { ...own, git, verb: "verify" };
  let outcome = await verify(engine, readArguments(command.split(" ").slice(1)));
  for (let next = nextOf(outcome); next.do === "run"; next = nextOf(outcome)) {
    outcome = await verify(engine, readArguments(next.command.split(" ").slice(1)));
  }
  return { outcome, sizeCalls: () => sizeCalls };
}

test("a patch that is too large stops no run: the critics are given the paths", async () => {
  const { outcome, sizeCalls } = await verified();
  expect(outcome.exit, outcome.text).toBe(0);
  const next = outcome.json.next as Extract<Instruction, { do: "dispatch" }>;
  expect(next).toMatchObject({ do: "dispatch" });
  expect(next.agents).toHaveLength(3);
  for (const { packet } of next.agents) {
    const sheet = readFileSync(packet, "utf8");
    expect(sheet).toContain("The patch is too large to be handed over.");
    expect(sheet).toContain(`"src/many/f${filesCount - 1}.txt" 3`);
  }
  expect(sizeCalls()).toBeLessThan(filesCount / 4);
});
