import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentOf, handedOut, idOf, seat, shipped } from "../support/replay.ts";
import { signed, workOf } from "../support/scripted-agents.ts";
import { eventsOf, gitIn } from "../support/scripted-run.ts";

const product = shipped();

test("C-58: an agent works in the tree it was given or not at all: the user's files are refused to it, a lost tree too, and its word for it is not taken", async () => {
  const world = product.world();
  const { session } = await seat(world, 1);
  const told = await handedOut(session, "coder");
  const agent = agentOf(told);
  const work = workOf(agent);
  const edit = async (path: string, agent_type: string | undefined, tool_name = "Write") => {
    const more = { tool_name, tool_input: { file_path: path }, ...(agent_type === undefined ? {} : { agent_type }) };
    const { stdout } = await session.hook("claude", "PreToolUse", more);
    if (stdout === "") return null;
    const said = (JSON.parse(stdout) as { hookSpecificOutput: Record<string, string> }).hookSpecificOutput;
    return [said.permissionDecision, said.permissionDecisionReason];
  };
  const own = join(work.root, "src", "add.js");
  const users = join(world.project, "src", "add.js");
  const coder = "atlas:elite-coder";
  expect(await edit(own, coder)).toBeNull();
  for (const path of [users, "src/add.js"]) {
    expect(await edit(path, coder), path).toEqual(["deny", expect.stringContaining("the user's own")]);
  }
  // Neither the user's own session nor a stranger's agent nor another place is ours to judge.
  expect(await edit(users, undefined)).toBeNull();
  expect(await edit(users, "general-purpose")).toBeNull();
  expect(await edit(join(world.project, "..", "elsewhere.txt"), coder)).toBeNull();

  rmSync(work.root, { recursive: true });
  expect(await edit(own, coder)).toEqual(["deny", expect.stringContaining("gone")]);
  expect(await edit(users, coder)).toEqual(["deny", expect.anything()]);
  const said = { agent_type: coder, last_assistant_message: signed(work, "done\nSTATUS: COMPLETE") };
  await session.hook("claude", "SubagentStop", said);
  const handed = await session.type(agent.then);
  expect([3, 4], handed.stdout + handed.stderr).toContain(handed.code);
  expect(eventsOf(world).filter(({ type, slot }) => type === "filled" && slot === "coder")).toEqual([]);
  expect(gitIn(world.project, "status", "--porcelain")).toBe("");
  // The way on: a tree of its own again.
  const again = await session.run("resume", "--run", idOf(told), "--claim", told.claim, "--redo", "coder");
  expect(workOf(agentOf(again)).root, again.stdout).not.toBe(world.project);
});
