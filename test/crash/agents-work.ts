/** Does what an instruction asks without typing its command: that one is killed, or typed after it was. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { type Agent, content, mending, scout, workOf } from "../support/scripted-agents.ts";
import type { World } from "../support/scripted-run.ts";

const agents: Readonly<Record<string, Agent>> = {
  scout,
  coder: mending,
  correctness: content,
  "code-quality": content,
  security: content,
};

/** The same agents, of whose every work a line stays in the world. */
export function markingAgents(world: World): Readonly<Record<string, Agent>> {
  const marking = (slot: string, play: Agent): Agent => {
    return (work) => {
      appendFileSync(worksFile(world), `${slot}\n`);
      return play(work);
    };
  };
  return Object.fromEntries(Object.entries(agents).map(([slot, play]) => [slot, marking(slot, play)]));
}

/** One line for each time an agent worked: what a ledger says of it is not believed. */
export function worksFile(world: World): string {
  return join(String(world.env.HOME), "works");
}

/** An agent's last message, its lease line at the end. */
export function messageOf(world: World, agent: Dispatch): string {
  const play = markingAgents(world)[agent.slot];
  if (play === undefined) throw new Error(`nobody plays ${agent.slot}`);
  return play(workOf(agent)) as string;
}

/** The agent has worked, and its result lies where the root writes it. */
export function layResult(world: World, agent: Dispatch): void {
  const message = messageOf(world, agent);
  mkdirSync(dirname(agent.result), { recursive: true });
  writeFileSync(agent.result, agent.slot === "coder" ? message : message.slice(0, message.lastIndexOf("\n")));
}

export function laySubmit(next: Extract<Instruction, { do: "submit" }>): void {
  mkdirSync(dirname(next.result), { recursive: true });
  writeFileSync(next.result, next.slot === "triage" ? '{"archetype":"bugfix"}' : "# Plan\n\nAdd, not subtract.\n");
}

export const halfFile = "src/half.js";

/** The coder has written something and is gone. */
export function workHalf(agent: Dispatch): void {
  const { root } = workOf(agent);
  writeFileSync(join(root, halfFile), "half of it\n");
  writeFileSync(join(root, "src", "add.js"), "module.exports = (a, b) => a +\n");
}
