/** A changed instruction changes what the model does: it holds no run id, slot, claim, path or command of its own. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Call, Conversation } from "../../support/mock-model.ts";
import { obey } from "../../support/obeying-model.ts";
import { claudeHands, claudeModel, runClaude } from "./claude-code.ts";
import { claudeVersions } from "./install.ts";
import { leaveRunBehind, makeWorld, type World } from "./world.ts";

test("one word changed in what the shipped program prints, and the model types the changed command", async () => {
  for (const [word, typed] of [
    [" resume --run ", " resume --run "],
    [" resume --run ", " status --run "],
  ] as const) {
    const world = changed(makeWorld(), word, typed);
    const id = await leaveRunBehind(world);
    const model = await claudeModel((asked) => (commandsOf(asked).length > 0 ? { text: "enough", calls: [] } : null));
    await runClaude({ version: claudeVersions[0], world, model }, "Go on.").ended;
    expect(commandsOf(model.asked.at(-1)!)).toEqual([`atlas${typed}${id}`]);
  }
});

describe("what the model does is what was printed last:", () => {
  const dispatch = [
    "do: dispatch 1 agent, all in one message, then hand each result in",
    "- agent context-scout (slot scout, until 2026-11-30T20:00:00.000Z)",
    "  prompt: Read /r/packets/scout.1.1.md and do what it says. End your last message with: LEASE r1 scout#1@1",
    "  result: /r/results/scout.1.1.out",
    "  then: atlas submit --run r1 --claim 1.abc --slot scout",
  ].join("\n");
  const submit =
    "do: submit plan\nrecipe: /p/plan.md\nread: /r/x.md\nwrite: /r/plan.0.md\nthen: atlas submit --slot plan";
  const question =
    "do: ask the human at gate pre-code\nquestion: May it? (0123abcd)\noptions: yes | no\n- yes: It does\n- no: It does not\nrecipe: /p/gates.md\nshow the human first: /r/gate.md\nthen: atlas answer --run r1 --choice CHOICE";

  test.each<[string, string, string, readonly string[], (calls: readonly Call[]) => unknown]>([
    ["the pointer's run", "Now run: atlas resume --run r1", "r1", ["user"], (calls) => calls[0]?.input.command],
    ["the pointer's program", "Now run: atlas resume --run r1", "atlas", ["user"], (calls) => calls[0]?.input.command],
    ["an agent's packet", dispatch, "/r/packets/scout.1.1.md", ["tool"], (calls) => calls[0]?.input.prompt],
    ["an agent's lease", dispatch, "scout#1@1", ["tool"], (calls) => calls[0]?.input.prompt],
    ["an agent's role", dispatch, "context-scout", ["tool"], (calls) => calls[0]?.input.subagent_type],
    ["a recipe", submit, "/p/plan.md", ["tool"], (calls) => calls[0]?.input.file_path],
    ["a result's path", submit, "/r/plan.0.md", ["tool", "tool"], (calls) => calls[0]?.input.file_path],
    ["a command's slot", submit, "--slot plan", ["tool", "tool", "tool"], (calls) => calls[0]?.input.command],
    [
      "a command to run",
      "do: run\nrun: atlas verify --run r1 --claim 1.abc",
      "1.abc",
      ["tool"],
      (calls) => calls[0]?.input.command,
    ],
    ["what the human sees first", question, "/r/gate.md", ["tool"], (calls) => calls[0]?.input.file_path],
    ["a question", question, "May it? (0123abcd)", ["tool", "tool"], (calls) => JSON.stringify(calls[0]?.input)],
    ["an option's meaning", question, "It does not", ["tool", "tool"], (calls) => JSON.stringify(calls[0]?.input)],
  ])("%s", (_name, printed, word, from, made) => {
    const other = `${word}X`;
    for (const [text, holds, lacks] of [
      [printed, word, other],
      [printed.replaceAll(word, other), other, null],
    ] as const) {
      const done = String(made(obey(conversation(text, from), claudeHands).calls));
      expect(done).toContain(holds);
      if (lacks !== null) expect(done).not.toContain(lacks);
    }
  });
});

/** The printed text, then as many results as were asked for since. */
function conversation(printed: string, from: readonly string[]): Conversation {
  const [first = "", ...results] = from;
  const spoken = [
    { by: "model", text: "", calls: [] },
    { by: "host", from: first as "tool", text: printed },
    ...results.flatMap(() => [
      { by: "model", text: "", calls: [] } as const,
      { by: "host", from: "tool", text: "as asked" } as const,
    ]),
  ] as Conversation["spoken"];
  return { spoken, system: "", tools: ["AskUserQuestion"], body: "" };
}

function commandsOf(asked: Conversation): readonly string[] {
  const calls = asked.spoken.flatMap((piece) => (piece.by === "model" ? piece.calls : []));
  return calls.flatMap(({ name, input }) => (name === "Bash" ? [String(input.command)] : []));
}

/** A plugin whose hook prints another word. */
function changed(world: World, word: string, other: string): World {
  const plugin = join(world.root, "plugin");
  cpSync(world.plugin, plugin, { recursive: true });
  const entry = join(plugin, "dist", "atlas.cjs");
  const text = readFileSync(entry, "utf8");
  if (!text.includes(word)) throw new Error(`the hook does not print ${word}`);
  writeFileSync(entry, text.replaceAll(word, other));
  return { ...world, plugin };
}
