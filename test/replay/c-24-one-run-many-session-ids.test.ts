import { expect, test } from "vitest";
import { agentOf, handedOut, idOf, livingHost, refusal, seat, shipped } from "../support/replay.ts";
import { scout, workOf } from "../support/scripted-agents.ts";
import { eventsOf, sessionId, sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-24: with events of ids A, B and A in one process the run follows its claim, and no event is lost", async () => {
  const world = product.world();
  const host = livingHost();
  const a = await seat(world, 1, { host });
  const told = await handedOut(a.session, "scout");
  const agent = agentOf(told);
  const b = await seat(world, 2, { host, source: "resume" });
  const input = { subagent_type: "atlas:context-scout", prompt: agent.prompt };
  await b.session.hook("claude", "PreToolUse", { tool_name: "Agent", tool_input: input });
  const said = { agent_type: "atlas:context-scout", last_assistant_message: scout(workOf(agent)) };
  await b.session.hook("claude", "SubagentStop", said);

  const env = (n: number) => ({ CLAUDE_PID: String(host.pid), CLAUDE_CODE_SESSION_ID: sessionId(n) });
  const called = (n: number) => sit(world, { host, env: env(n) });
  // Without the claim another id in the process is another owner; with it, it is the run's.
  expect(refusal(await called(2).run("resume", "--run", idOf(told)))).toEqual([3, "run.owned"]);
  const held = await called(2).run("resume", "--run", idOf(told), "--claim", told.claim);
  expect([held.did, held.epoch], held.stdout).toEqual([
    ["reattached epoch 1", "started scout#1@1", "took scout#1@1"],
    1,
  ]);
  const back = await called(1).run("resume");
  expect([back.next, back.claim]).toEqual([held.next, told.claim]);
  expect(eventsOf(world).filter(({ type }) => type === "leased" || type === "claimed")).toHaveLength(2);
});
