/** The commands that are killed: how the run comes to where each is typed, and what is typed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { begin, request, type Script, type Session, scripted, sessionId, type Told } from "../support/scripted-run.ts";
import { layResult, laySubmit, messageOf, workHalf } from "./agents-work.ts";
import type { CrashWorld } from "./crash-world.ts";
import { readRuns } from "./read-runs.ts";

/** What is killed: a command, or one event of a host. */
export interface Victim {
  readonly words: readonly string[];
  /** stdin; empty for a command. */
  readonly input: string;
}

export interface Scenario {
  readonly name: string;
  /** Brings a fresh world to where the victim is typed. */
  prepare(world: CrashWorld, session: Session): Promise<Victim>;
  /** Under a host that came later and dies after the victim: makes the run its own first. */
  readonly approach?: (world: CrashWorld, session: Session, victim: Victim) => Promise<Victim>;
  /** The owner is dead before the victim is typed, whoever types it. */
  readonly ownerGone?: true;
  /** An agent has begun to write: that must never be lost. */
  readonly hasHalfWork?: true;
  /** Whether the caller has to type the victim again before he resumes: it left no trace in a ledger. */
  readonly isUndone?: (world: CrashWorld) => boolean;
  readonly script: Script;
  /** Leases that may come to nothing because what the victim carries is lost with it; default 0. */
  readonly wastedMax?: number;
}

const verb = (command: string): Victim => ({ words: [...command.split(" ").slice(1), "--json"], input: "" });
const typed = (...words: readonly string[]): Victim => ({ words: [...words, "--json"], input: "" });

function event(world: CrashWorld, on: string, payload: object): Victim {
  const told = { session_id: sessionId(1), cwd: world.project, hook_event_name: on, ...payload };
  return { words: ["hook", "--host", "claude", "--on", on], input: JSON.stringify(told) };
}

type Next<D extends Instruction["do"]> = Extract<Instruction, { do: D }>;
type Stop = (next: Instruction) => boolean;

async function goTo(session: Session, script: Script, stop: Stop, headless = true): Promise<Told> {
  if (script.hooks !== undefined) await session.hook("claude", "SessionStart", { source: "startup" });
  // With words for gate clarify something has to be left open.
  const { success_criteria, ...rest } = request;
  const packet = script.words === undefined ? { ...rest, success_criteria } : rest;
  const first = await begin(session, packet, ...(headless ? ["--headless"] : []));
  return await scripted(session, script).go(first, stop);
}

const atSubmit =
  (slot: string): Stop =>
  (next) =>
    next.do === "submit" && next.slot === slot;
const atAgent =
  (slot: string): Stop =>
  (next) =>
    next.do === "dispatch" && next.agents[0].slot === slot;
const atGate =
  (gate: string): Stop =>
  (next) =>
    next.do === "ask" && next.gate === gate;
const never: Stop = () => false;

const agentOf = (told: Told, at = 0): Dispatch => (told.next as Next<"dispatch">).agents[at] as Dispatch;
const has = (type: string) => (world: CrashWorld) =>
  readRuns(world).some((run) => run.events.some((one) => one.type === type));
const plain: Script = {};
const hooked: Script = { hooks: "claude" };

/** Whoever lives now says so and takes the run. */
async function takeRun(session: Session): Promise<Told> {
  await session.hook("claude", "SessionStart", { source: "resume" });
  return await session.run("resume");
}

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
    async prepare(_world, session) {
      const agent = agentOf(await goTo(session, plain, atAgent("coder")));
      layResult(agent);
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
    async prepare(_world, session) {
      const told = await goTo(session, plain, atAgent("correctness"));
      const { agents } = told.next as Next<"dispatch">;
      const last = agents.at(-1) as Dispatch;
      for (const agent of agents.slice(0, -1)) {
        layResult(agent);
        await session.type(agent.then);
      }
      layResult(last);
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
  {
    name: "hook SessionStart",
    script: hooked,
    async prepare(world, session) {
      await goTo(session, hooked, atAgent("coder"));
      return event(world, "SessionStart", { source: "compact" });
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

async function stopping(world: CrashWorld, session: Session, agent: Dispatch): Promise<Victim> {
  const input = { subagent_type: `atlas:${agent.role}`, prompt: agent.prompt };
  await session.hook("claude", "PreToolUse", { tool_name: "Agent", tool_input: input });
  const last = { agent_type: `atlas:${agent.role}`, last_assistant_message: messageOf(agent) };
  return event(world, "SubagentStop", last);
}

function isFilled(some: { readonly type: string }, slot: string): boolean {
  return some.type === "filled" && (some as { readonly slot?: unknown }).slot === slot;
}
