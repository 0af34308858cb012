/** Events of a host that are killed: each is fired once, as hosts do, and never again. */
import type { Dispatch } from "../../scripts/core/kind.ts";
import type { Session } from "../support/scripted-run.ts";
import { messageOf } from "./agents-work.ts";
import type { CrashWorld } from "./crash-world.ts";
import {
  agentOf,
  atAgent,
  atGate,
  event,
  goTo,
  hooked,
  type Next,
  plain,
  type Scenario,
  takeRun,
  type Victim,
} from "./scenario.ts";

export const hookScenarios: readonly Scenario[] = [
  {
    name: "hook SessionStart",
    script: hooked,
    async prepare(world, session) {
      await goTo(session, hooked, atAgent("coder"));
      return event(world, "SessionStart", { source: "compact" });
    },
  },
  {
    name: "hook SessionStart of a new session",
    script: plain,
    async prepare(world, session) {
      await goTo(session, plain, atAgent("coder"));
      return event(world, "SessionStart", { source: "startup" });
    },
  },
  {
    name: "hook PostCompact",
    script: hooked,
    async prepare(world, session) {
      await goTo(session, hooked, atAgent("coder"));
      return event(world, "PostCompact", { trigger: "manual" });
    },
  },
  {
    name: "hook PreToolUse",
    script: hooked,
    async prepare(world, session) {
      return starting(world, agentOf(await goTo(session, hooked, atAgent("coder"))));
    },
    approach: async (world, session) => starting(world, agentOf(await takeRun(session))),
    // An agent that was seen to start and says nothing has to work again.
    wastedMax: 1,
  },
  {
    name: "hook PostToolUse",
    script: hooked,
    async prepare(world, session) {
      return choosing(world, (await goTo(session, hooked, atGate("pre-code"), false)).next as Next<"ask">);
    },
    approach: async (world, session) => choosing(world, (await takeRun(session)).next as Next<"ask">),
    isWordLost: true,
  },
  {
    name: "hook Stop",
    script: hooked,
    async prepare(world, session) {
      await goTo(session, hooked, atAgent("coder"));
      return event(world, "Stop", { stop_hook_active: false });
    },
    approach: async (_world, session, victim) => {
      await takeRun(session);
      return victim;
    },
  },
  {
    name: "hook SessionEnd",
    script: hooked,
    async prepare(world, session) {
      await goTo(session, hooked, atAgent("coder"));
      return event(world, "SessionEnd", { reason: "clear" });
    },
    approach: async (_world, session, victim) => {
      await takeRun(session);
      return victim;
    },
  },
  {
    name: "hook SubagentStop",
    script: hooked,
    async prepare(world, session) {
      return await stopping(world, session, agentOf(await goTo(session, hooked, atAgent("coder"))));
    },
    approach: async (world, session) => await stopping(world, session, agentOf(await takeRun(session))),
    // An agent whose last message nobody wrote down has to work again.
    wastedMax: 1,
  },
  {
    name: "hook UserPromptSubmit",
    script: hooked,
    async prepare(world, session) {
      const { nonce } = (await goTo(session, hooked, atGate("pre-code"), false)).next as Next<"ask">;
      return event(world, "UserPromptSubmit", { prompt: `well: atlas ${nonce} approve` });
    },
    approach: async (_world, session, victim) => {
      await takeRun(session);
      return victim;
    },
  },
];

/** The host's own question, asked word for word. */
function choosing(world: CrashWorld, ask: Next<"ask">): Victim {
  const options = ask.options.map((label, at) => ({ label, description: ask.meanings[at] }));
  const asked = { question: ask.question, header: "Gate", multiSelect: false, options };
  const said = { questions: [asked], answers: { [ask.question]: "approve" } };
  return event(world, "PostToolUse", { tool_name: "AskUserQuestion", tool_input: said, tool_response: said });
}

function starting(world: CrashWorld, agent: Dispatch): Victim {
  const input = { subagent_type: `atlas:${agent.role}`, prompt: agent.prompt };
  return event(world, "PreToolUse", { tool_name: "Agent", tool_input: input });
}

async function stopping(world: CrashWorld, session: Session, agent: Dispatch): Promise<Victim> {
  const input = { subagent_type: `atlas:${agent.role}`, prompt: agent.prompt };
  await session.hook("claude", "PreToolUse", { tool_name: "Agent", tool_input: input });
  const last = { agent_type: `atlas:${agent.role}`, last_assistant_message: messageOf(world, agent) };
  return event(world, "SubagentStop", last);
}
