/** Does what an instruction asks without typing its command: that one is killed, or typed after it was. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { type Agent, content, mending, scout, workOf } from "../support/scripted-agents.ts";

const agents: Readonly<Record<string, Agent>> = { scout, coder: mending };

/** An agent's last message, its lease line at the end. */
export function messageOf(agent: Dispatch): string {
  const play = agents[agent.slot] ?? content;
  return play(workOf(agent)) as string;
}

/** The agent has worked, and its result lies where the root writes it. */
export function layResult(agent: Dispatch): void {
  const message = messageOf(agent);
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
