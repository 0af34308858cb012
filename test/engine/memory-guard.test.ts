/** What the machine has free decides how many agents go out, and never whether a run ends. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import { begin, builtPlugin, makeWorld, type Plugin, request, scripted, sit } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

/** The slots of each dispatch of a run, in order, to its report. */
async function dispatches(freeMb: number): Promise<readonly (readonly string[])[]> {
  const session = sit(makeWorld(plugin, tempFolder()), { env: { ATLAS_FREE_MB: String(freeMb) } });
  const seen: string[][] = [];
  const note = (next: Instruction) => {
    if (next.do === "dispatch") seen.push(next.agents.map(({ slot }) => slot));
    return next.do === "report";
  };
  const at = await scripted(session, {}).go(await begin(session, request, "--headless"), note);
  expect(at.next.do).toBe("report");
  return seen;
}

test("V-39: without memory one agent goes at a time, and the run ends all the same", async () => {
  const seen = await dispatches(0);
  expect(seen.every((slots) => slots.length === 1)).toBe(true);
  expect(seen.flat().slice(0, 2)).toEqual(["scout", "coder"]);
  expect(seen.flat().slice(-3).sort()).toEqual(["code-quality", "correctness", "security"]);
});

test("V-39: with memory the three critics go together", async () => {
  const seen = await dispatches(100_000);
  expect(seen.some((slots) => slots.length === 3)).toBe(true);
});
