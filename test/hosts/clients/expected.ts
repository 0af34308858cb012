/** What a finished run must show, whichever host it ran in. */
import { expect } from "vitest";
import type { MockModel } from "../../support/mock-model.ts";
import { promptOf } from "../../support/obeying-agent.ts";
import { onlyRun, type World } from "./world.ts";

export const everySlot: readonly string[] = ["code-quality", "coder", "correctness", "scout", "security"];

/** Ended, with the change, and no slot handed out more often than the kills explain. */
export function expectDone(world: World, epochs: readonly number[], again: readonly string[] = []): void {
  const run = onlyRun(world);
  expect(run.isFinished).toBe(true);
  expect(run.patch).toContain("+hello");
  expect([...run.leased].sort()).toEqual([...everySlot, ...again].sort());
  expect(run.claims).toEqual(epochs);
}

/** Packets of the agents that were started, each once. */
export function packetsOf(model: MockModel): readonly string[] {
  return [...new Set(model.asked.map((asked) => promptOf(asked)?.[1] ?? ""))].filter((packet) => packet !== "");
}

/** The slots of those packets. */
export function slotsOf(model: MockModel): readonly string[] {
  return packetsOf(model)
    .map((packet) => /\/packets\/([a-z-]+)\./.exec(packet)?.[1] ?? packet)
    .sort();
}
