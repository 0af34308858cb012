/** One command that is killed: how the run comes to where it is typed, and what is typed. */
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { begin, request, type Script, type Session, scripted, sessionId, type Told } from "../support/scripted-run.ts";
import { markingAgents } from "./agents-work.ts";
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
  /** A choice of the human is lost with the victim, and made again in another way. */
  readonly isWordLost?: true;
}

export const verb = (command: string): Victim => ({ words: [...command.split(" ").slice(1), "--json"], input: "" });
export const typed = (...words: readonly string[]): Victim => ({ words: [...words, "--json"], input: "" });

export function event(world: CrashWorld, on: string, payload: object): Victim {
  const told = { session_id: sessionId(1), cwd: world.project, hook_event_name: on, ...payload };
  return { words: ["hook", "--host", "claude", "--on", on], input: JSON.stringify(told) };
}

export type Next<D extends Instruction["do"]> = Extract<Instruction, { do: D }>;
type Stop = (next: Instruction) => boolean;

export async function goTo(session: Session, script: Script, stop: Stop, headless = true): Promise<Told> {
  if (script.hooks !== undefined) await session.hook("claude", "SessionStart", { source: "startup" });
  // With words for gate clarify something has to be left open.
  const { success_criteria, ...rest } = request;
  const packet = script.words === undefined ? { ...rest, success_criteria } : rest;
  const first = await begin(session, packet, ...(headless ? ["--headless"] : []));
  return await scripted(session, { ...script, agents: markingAgents(session.world) }).go(first, stop);
}

export const atSubmit =
  (slot: string): Stop =>
  (next) =>
    next.do === "submit" && next.slot === slot;
export const atAgent =
  (slot: string): Stop =>
  (next) =>
    next.do === "dispatch" && next.agents[0].slot === slot;
export const atGate =
  (gate: string): Stop =>
  (next) =>
    next.do === "ask" && next.gate === gate;
export const never: Stop = () => false;

export const agentOf = (told: Told, at = 0): Dispatch => (told.next as Next<"dispatch">).agents[at] as Dispatch;
export const has = (type: string) => (world: CrashWorld) =>
  readRuns(world).some((run) => run.events.some((one) => one.type === type));
export const plain: Script = {};
export const hooked: Script = { hooks: "claude" };

/** Whoever lives now says so and takes the run. */
export async function takeRun(session: Session): Promise<Told> {
  await session.hook("claude", "SessionStart", { source: "resume" });
  return await session.run("resume");
}
