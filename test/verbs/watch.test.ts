import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startHost } from "../support/host-process.ts";
import {
  begin,
  builtPlugin,
  type HostName,
  makeWorld,
  type Plugin,
  request,
  scripted,
  sessionId,
  sit,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

/** Shell calls are sent to the background after 60 s (Kimi Code) and ended after 120 s (Claude Code). */
test.each<[HostName, number]>([
  ["kimi", 60],
  ["claude", 120],
])("under %s no printed command blocks longer than its shell's %i seconds", async (name, shellSeconds) => {
  const host = startHost();
  onTestFinished(() => host.kill());
  const id = name === "kimi" ? `session_${sessionId(1)}` : sessionId(1);
  const session = sit(makeWorld(plugin, tempFolder()), { host, session: id });
  await session.hook(name, "SessionStart", { source: "startup" });
  const run = scripted(session, { hooks: name });
  const told = await run.go(await begin(session, request, "--headless"), ({ do: what }) => what === "dispatch");
  if (told.next.do !== "dispatch") throw new Error("no agent is wanted");
  const [agent] = told.next.agents;
  const input = { subagent_type: agent.role, prompt: agent.prompt };
  await session.hook(name, "PreToolUse", { tool_name: "Agent", tool_input: input });
  const { next } = await session.run("resume");
  if (next.do !== "await") throw new Error(`not waiting: ${next.do}`);
  const seconds = Number(/ --wait (\d+)$/.exec(next.then)?.[1]);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan(shellSeconds);
});
