import { join } from "node:path";
import { expect, test } from "vitest";
import { claude } from "../../scripts/hosts/claude.ts";
import { kimi } from "../../scripts/hosts/kimi.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { readSession } from "../../scripts/platform/sessions.ts";
import { writeOwnRun } from "../support/ledger.ts";
import { shipped } from "../support/replay.ts";
import { sessionId, sit } from "../support/scripted-run.ts";

const product = shipped();
const words = "yes: atlas 1a2b3c4d approve";
const shapes = [
  words,
  [{ type: "text", text: words }],
  [{ type: "image", source: {} }, { type: "text", text: words }, 7, null],
];

test.each([claude, kimi])(
  "C-23 $name: a prompt is read alike as a text and as a list of parts, an agent's prompt too",
  (host) => {
    for (const prompt of shapes) {
      expect(host.read("UserPromptSubmit", { prompt })).toEqual({ on: "prompt", text: words });
      expect(host.read("PreToolUse", { tool_name: "Agent", tool_input: { prompt } })).toEqual({
        on: "agent-start",
        prompt: words,
      });
    }
    for (const prompt of [undefined, null, 7, {}, [[]]]) {
      expect(host.read("UserPromptSubmit", { prompt })).toEqual({ on: "prompt", text: "" });
    }
  },
);

test("C-23: what a human types in either shape is taken as his answer", async () => {
  const world = product.world();
  writeOwnRun(join(world.project, ".atlas"));
  const session = sit(world);
  await session.hook("kimi", "SessionStart", { source: "startup" });
  for (const prompt of shapes.slice(0, 2)) await session.hook("kimi", "UserPromptSubmit", { prompt });
  const record = readSession(realFileSystem, join(String(world.env.XDG_STATE_HOME), "atlas"), sessionId(1));
  const answer = { nonce: "1a2b3c4d", choice: "approve" };
  expect(record?.typed).toEqual([answer, answer]);
});
