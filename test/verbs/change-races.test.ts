/** Two commands of one claim at once, and one that comes late: nothing is done twice, and nothing newer is undone. */
import { readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { decideAs } from "../../scripts/engine/change-run.ts";
import type { Loaded } from "../../scripts/engine/ledger.ts";
import { conclude } from "../../scripts/engine/proceed.ts";
import { load } from "../../scripts/engine/transact.ts";
import { folderOf, ownEngine } from "../support/own-engine.ts";
import { mending, workOf } from "../support/scripted-agents.ts";
import {
  begin,
  builtPlugin,
  eventsOf,
  logBytes,
  makeWorld,
  type Plugin,
  request,
  runFolder,
  scripted,
  sit,
  startWords,
  type Told,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

const idOf = (told: Told) => (told.json.run as { id: string }).id;
const dispatchOf = (slot: string) => (next: Instruction) => next.do === "dispatch" && next.agents[0].slot === slot;
function agentOf(told: Told): Dispatch {
  return (told.next as Extract<Instruction, { do: "dispatch" }>).agents[0];
}

test("two that verify at once run the command once, and both are told what came of it", async () => {
  const folder = tempFolder();
  const world = makeWorld(plugin, folder);
  const session = sit(world);
  const ran = join(folder, "ran.txt");
  const packet = { ...request, verify_cmd: `echo x >> ${ran}; sleep 1` };
  const at = await scripted(session).go(await begin(session, packet, "--headless"), (next) => next.do === "run");
  const { command } = at.next as Extract<Instruction, { do: "run" }>;
  const both = await Promise.all([startWords(session, command), startWords(session, command)]);
  expect(both.map((told) => told.code)).toEqual([0, 0]);
  expect(readFileSync(ran, "utf8")).toBe("x\n");
  const began = eventsOf(world).filter((event) => event.type === "effect-began" && event.key === "run-command:0");
  expect(began).toHaveLength(1);
});

test("a command that comes late leaves the marks of the newest fold: the agent that is out may hand in", async () => {
  const world = makeWorld(plugin, tempFolder());
  const session = sit(world);
  const at = await scripted(session).go(await begin(session, request, "--headless"), dispatchOf("scout"));
  const folder = folderOf(runFolder(world));
  const engine = ownEngine(world);
  const late = load(engine, folder);
  if (!late.ok) throw new Error(late.error.reason);
  const fresh = decideAs(engine, folder, at.claim, { do: "end-lease", lease: "scout#1@1", why: "redo" });
  expect(fresh.ok).toBe(true);
  const handed = decideAs(engine, folder, at.claim, { do: "hand-out" });
  if (!handed.ok) throw new Error(handed.error.reason);
  const marks = () => readdirSync(join(folder.ledger, "results")).filter((name) => name.endsWith(".lease"));
  conclude(engine, handed.value.loaded, []);
  expect(marks()).toEqual(["scout.2.1.lease"]);
  conclude(engine, late.value as Loaded, []);
  expect(marks()).toEqual(["scout.2.1.lease"]);
});

test("a report that names another lease is no answer, and no command is stuck on it", async () => {
  const world = makeWorld(plugin, tempFolder());
  const session = sit(world);
  const at = await scripted(session).go(await begin(session, request, "--headless"), dispatchOf("coder"));
  const agent = agentOf(at);
  const report = mending(workOf(agent)) as string;
  writeFileSync(agent.result, report.replace(agent.lease, "coder#9@9"));
  const refused = await session.type(agent.then);
  expect([refused.code, refused.refused.code]).toEqual([3, "lease.stale"]);
  const resumed = await session.run("resume");
  expect(resumed.code, resumed.stdout).toBe(0);
  expect(agentOf(resumed).lease).toBe(agent.lease);
  writeFileSync(agent.result, report);
  expect((await session.type(agent.then)).next.do).toBe("run");
});

describe("a fork", () => {
  test("is not made of a run that is reached through a link", async () => {
    const folder = tempFolder();
    const world = makeWorld(plugin, folder);
    const session = sit(world);
    const at = await scripted(session).go(await begin(session, request, "--headless"), dispatchOf("scout"));
    const id = idOf(at);
    const lines = logBytes(world, id)
      .split("\n")
      .filter((line) => line !== "").length;
    renameSync(runFolder(world, id), join(folder, "elsewhere"));
    symlinkSync(join(folder, "elsewhere"), join(world.project, ".atlas", id));
    const told = await session.run("fork", "--run", id, "--at", String(lines));
    expect([told.code, told.refused.code]).toEqual([3, "run.untrusted"]);
    expect(readdirSync(join(world.project, ".atlas")).filter((name) => /^\d/.test(name))).toEqual([id]);
  });
});
