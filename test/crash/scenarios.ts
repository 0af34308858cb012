/** The commands that are killed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Dispatch } from "../../scripts/core/kind.ts";
import { request, type Script, type Session } from "../support/scripted-run.ts";
import { layResult, laySubmit, workHalf } from "./agents-work.ts";
import { hookScenarios } from "./hook-scenarios.ts";
import { readRuns } from "./read-runs.ts";
import {
  agentOf,
  atAgent,
  atGate,
  atSubmit,
  goTo,
  has,
  hooked,
  type Next,
  never,
  plain,
  type Scenario,
  takeRun,
  typed,
  type Victim,
  verb,
} from "./scenario.ts";

function answering(gate: string, choice: string, more: Script = {}): Scenario {
  const script = { ...hooked, ...more };
  const type = async (session: Session, ask: Next<"ask">): Promise<Victim> => {
    await session.hook("claude", "UserPromptSubmit", { prompt: `atlas ${ask.nonce} ${choice}` });
    return verb(ask.then.replace("CHOICE", choice).replace("FILE", "../words.txt"));
  };
  return {
    name: `answer ${gate}`,
    script,
    async prepare(world, session) {
      const told = await goTo(session, script, atGate(gate), false);
      writeFileSync(join(world.folder, "words.txt"), script.words ?? "");
      return await type(session, told.next as Next<"ask">);
    },
    async approach(_world, session) {
      return await type(session, (await takeRun(session)).next as Next<"ask">);
    },
  };
}

export const scenarios: readonly Scenario[] = [
  {
    name: "start",
    script: plain,
    async prepare(world) {
      writeFileSync(join(world.folder, "packet.json"), JSON.stringify(request));
      return typed("start", "change", "--packet", join(world.folder, "packet.json"), "--headless");
    },
    isUndone: (world) => readRuns(world).length === 0,
  },
  {
    name: "submit triage",
    script: plain,
    async prepare(_world, session) {
      const told = await goTo(session, plain, atSubmit("triage"));
      laySubmit(told.next as Next<"submit">);
      return verb((told.next as Next<"submit">).then);
    },
  },
  {
    name: "submit plan",
    script: plain,
    async prepare(_world, session) {
      const told = await goTo(session, plain, atSubmit("plan"));
      laySubmit(told.next as Next<"submit">);
      return verb((told.next as Next<"submit">).then);
    },
  },
  {
    name: "submit coder",
    script: plain,
    async prepare(world, session) {
      const agent = agentOf(await goTo(session, plain, atAgent("coder")));
      layResult(world, agent);
      return verb(agent.then);
    },
  },
  {
    name: "verify",
    script: plain,
    async prepare(_world, session) {
      const told = await goTo(session, plain, (next) => next.do === "run");
      return verb((told.next as Next<"run">).command);
    },
  },
  {
    name: "submit last critic",
    script: plain,
    async prepare(world, session) {
      const told = await goTo(session, plain, atAgent("correctness"));
      const { agents } = told.next as Next<"dispatch">;
      const last = agents.at(-1) as Dispatch;
      for (const agent of agents.slice(0, -1)) {
        layResult(world, agent);
        await session.type(agent.then);
      }
      layResult(world, last);
      return verb(last.then);
    },
  },
  {
    name: "resume",
    script: plain,
    ownerGone: true,
    hasHalfWork: true,
    async prepare(_world, session) {
      workHalf(agentOf(await goTo(session, plain, atAgent("coder"))));
      return typed("resume");
    },
  },
  {
    name: "abandon",
    script: plain,
    hasHalfWork: true,
    async prepare(world, session) {
      workHalf(agentOf(await goTo(session, plain, atAgent("coder"))));
      return typed("abandon", "--run", readRuns(world)[0]?.id ?? "");
    },
    isUndone: (world) => !has("abandoned")(world),
  },
  {
    name: "clean",
    script: plain,
    async prepare(world, session) {
      // One run that was given up with a clean tree, one that came to its end.
      await goTo(session, plain, atAgent("coder"));
      await session.run("abandon", "--run", readRuns(world)[0]?.id ?? "");
      await goTo(session, plain, never);
      return typed("clean");
    },
    isUndone: () => true,
  },
  {
    name: "fork",
    script: plain,
    async prepare(world, session) {
      await goTo(session, plain, never);
      const [run] = readRuns(world);
      const line = run?.lines.find((one) => one.events.some((some) => isFilled(some, "plan")));
      return typed("fork", "--run", run?.id ?? "", "--at", String(line?.seq));
    },
    isUndone: (world) => readRuns(world).length === 1,
  },
  {
    name: "rollback",
    script: plain,
    async prepare(world, session) {
      const told = await goTo(session, plain, atAgent("correctness"));
      const line = readRuns(world)[0]?.lines.find((one) => one.events.some((some) => some.type === "based"));
      return typed("rollback", "--run", readRuns(world)[0]?.id ?? "", "--claim", told.claim, "--to", String(line?.seq));
    },
    approach: async (_world, session, victim) => {
      const { claim } = await takeRun(session);
      const at = victim.words.indexOf("--claim") + 1;
      return { ...victim, words: victim.words.with(at, claim) };
    },
    isUndone: (world) => !has("rolled-back")(world),
  },
  answering("clarify", "text", { words: "success: 1 and 2 make 3\n" }),
  answering("pre-code", "approve"),
  answering("approve-command", "approve"),
  answering("output", "discard", { gates: { output: "discard" } }),
  ...hookScenarios,
];

function isFilled(some: { readonly type: string }, slot: string): boolean {
  return some.type === "filled" && (some as { readonly slot?: unknown }).slot === slot;
}
