/** One run, many processes: exactly one acts, the others are told who. Real hosts, real kills, real hooks. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { type HostProcess, startHost } from "../support/host-process.ts";
import { ownerOf, writeOwnRun } from "../support/ledger.ts";
import { scout, workOf } from "../support/scripted-agents.ts";
import {
  begin,
  builtPlugin,
  eventsOf,
  logBytes,
  makeWorld,
  type Plugin,
  request,
  type Session,
  scripted,
  sessionId,
  sit,
  type Told,
  typeWords,
  type World,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

interface Seat {
  readonly host: HostProcess;
  readonly session: Session;
}

/** A host's process with one session, whose start its hook has told. */
async function seat(world: World, n: number, source = "startup", host = livingHost()): Promise<Seat> {
  const session = sit(world, { host, session: sessionId(n) });
  const told = await session.hook("claude", "SessionStart", { source });
  expect(told.code, told.stderr).toBe(0);
  return { host, session };
}

function livingHost(): HostProcess {
  const host = startHost();
  onTestFinished(() => host.kill());
  return host;
}

const idOf = (told: Told) => (told.json.run as { id: string }).id;
const refusal = (told: Told) => [told.code, told.refused?.code];
function agentOf(told: Told): Dispatch {
  expect(told.next, told.stdout).toMatchObject({ do: "dispatch" });
  return (told.next as Extract<Instruction, { do: "dispatch" }>).agents[0];
}
/** A run whose scout is out. */
async function scouting(session: Session, form: "--headless" | null = "--headless"): Promise<Told> {
  const words = form === null ? [] : [form];
  return await scripted(session).go(await begin(session, request, ...words), (next) => next.do === "dispatch");
}
function writeScout(agent: Dispatch): void {
  const message = scout(workOf(agent)) as string;
  writeFileSync(agent.result, message.slice(0, message.lastIndexOf("\n")));
}
const claims = (world: World) => eventsOf(world).filter((event) => event.type === "claimed");

describe("what a session of another living process saw of an agent", () => {
  test("counts for nothing, its own process's and a dead process's for what it is", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    const b = await seat(world, 2);
    const told = await scouting(a.session);
    const agent = agentOf(told);
    const prompt = { subagent_type: "atlas:context-scout", prompt: agent.prompt };
    const starts = (session: Session) =>
      session.hook("claude", "PreToolUse", { tool_name: "Agent", tool_input: prompt });
    const next = ["next", "--run", idOf(told), "--claim", told.claim];
    await starts(b.session);
    expect((await a.session.run(...next)).next).toMatchObject({ do: "dispatch" });
    // Half written by the relaying root; the other session's word does not make it final.
    writeFileSync(agent.result, '{"repo_mode":');
    const said = { agent_type: "atlas:context-scout", last_assistant_message: workOf(agent).leaseLine };
    await b.session.hook("claude", "SubagentStop", said);
    const resume = ["resume", "--run", idOf(told), "--claim", told.claim];
    expect((await a.session.run(...resume)).did).not.toContain("ended scout#1@1 (slot.json)");
    expect(eventsOf(world).filter((event) => event.type === "lease-ended")).toEqual([]);
    await starts(a.session);
    expect((await a.session.run(...next)).next).toMatchObject({ do: "await" });
    await b.host.kill();
    await a.session.run(...resume);
    expect(eventsOf(world).filter((event) => event.type === "lease-ended")).toMatchObject([{ why: "error" }]);
  });
});

describe("while the owner's process lives", () => {
  test("another is told who and since when, whatever it tries; only a human's word takes over, and fences the old", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    const told = await scouting(a.session);
    const agent = agentOf(told);
    const b = await seat(world, 2);
    const before = logBytes(world);
    const since = claims(world)[0];
    expect(since).toMatchObject({ owner: { pid: a.host.pid, session: sessionId(1), host: "claude" } });

    const ts = /"ts":"([^"]+)"/.exec(before)?.[1] as string;
    const run = ["--run", idOf(told)];
    for (const words of [
      ["resume"],
      ["resume", ...run],
      ["next", ...run],
      ["submit", ...run, "--slot", "scout"],
      ["answer", ...run, "--gate", "output", "--choice", "apply"],
      ["verify", ...run],
      ["abandon", ...run],
    ]) {
      const refused = await b.session.run(...words);
      expect(refusal(refused), words.join(" ")).toEqual([3, "run.owned"]);
      expect(refused.refused.reason).toContain(`process ${a.host.pid} (Claude Code) since ${ts}`);
    }
    const again = await begin(b.session, request, "--headless");
    expect(refusal(again)).toEqual([3, "run.owned"]);
    const status = await b.session.run("status");
    expect(status.json.runs).toMatchObject([{ resumable: false, why: "owner.alive", owner: { standing: "alive" } }]);

    const unattested = await b.session.run("resume", ...run, "--take-over");
    expect(refusal(unattested)).toEqual([3, "gate.unattested"]);
    expect(unattested.refused.fix).toMatch(/^atlas [0-9a-f]{8} take-over$/);
    expect(logBytes(world)).toBe(before);

    await typeWords(b.session, "claude", unattested.refused.fix);
    const taken = await b.session.run("resume", ...run, "--take-over");
    expect([taken.code, taken.epoch], taken.stdout).toEqual([0, 2]);
    expect(claims(world)[1]).toMatchObject({ why: "take-over", grade: "typed", owner: { pid: b.host.pid } });

    // The fenced owner: every command of its epoch is refused, and no byte changes.
    const after = logBytes(world);
    writeScout(agent);
    for (const command of [
      agent.then,
      `${agent.then} --failed timeout`,
      `atlas next ${run.join(" ")} --claim ${told.claim}`,
      `atlas verify ${run.join(" ")} --claim ${told.claim}`,
      `atlas answer ${run.join(" ")} --claim ${told.claim} --gate output --choice refine`,
    ]) {
      expect(refusal(await a.session.type(command)), command).toEqual([3, "claim.stale"]);
    }
    expect(refusal(await a.session.run("resume", ...run, "--claim", told.claim))).toEqual([3, "run.owned"]);
    expect(logBytes(world)).toBe(after);
    // The word was for that claim; it does not open the next one.
    expect(refusal(await a.session.run("resume", ...run, "--take-over"))).toEqual([3, "gate.unattested"]);
  });

  test("another session in the same process is another owner, unless it holds the claim", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    const told = await scouting(a.session);
    await seat(world, 3, "startup", a.host);
    const pid = String(a.host.pid);
    const named = (n: number) =>
      sit(world, { host: a.host, env: { CLAUDE_PID: pid, CLAUDE_CODE_SESSION_ID: sessionId(n) } });
    const before = logBytes(world);
    expect(refusal(await named(3).run("resume"))).toEqual([3, "run.owned"]);
    const own = await named(1).run("resume");
    expect([own.code, own.epoch, own.did], own.stdout).toEqual([0, 1, ["reattached epoch 1"]]);
    const held = await named(3).run("resume", "--run", idOf(told), "--claim", told.claim);
    expect([held.code, held.epoch]).toEqual([0, 1]);
    expect(logBytes(world)).toBe(before);
  });

  test("a compaction changes nothing: the same owner reattaches, no line, its agent's lease lives on", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    const agent = agentOf(await scouting(a.session));
    const started = { subagent_type: "atlas:context-scout", prompt: agent.prompt };
    await a.session.hook("claude", "PreToolUse", { tool_name: "Agent", tool_input: started });
    expect((await a.session.run("next")).next, "a started agent is not printed again").toMatchObject({ do: "await" });
    const first = await a.session.run("resume");
    expect(first.next).toMatchObject({ do: "await", slots: ["scout"] });
    const before = logBytes(world);
    const stranger = await (await seat(world, 2)).session.run("resume", "--dry-run");
    expect(stranger.json.plan).toContainEqual({ act: "keep", what: "scout", why: "its agent may still be at work" });
    const pointer = await a.session.hook("claude", "SessionStart", { source: "compact" });
    expect(pointer.stdout).toContain("atlas: unfinished run.");
    const again = await a.session.run("resume");
    expect(again.next).toEqual(first.next);
    expect([again.epoch, again.claim]).toEqual([1, first.claim]);
    expect(logBytes(world)).toBe(before);
    const said = { agent_type: "atlas:context-scout", last_assistant_message: scout(workOf(agent)) };
    await a.session.hook("claude", "SubagentStop", said);
    expect((await a.session.run("resume")).did).toContain("took scout#1@1");
  });
});

describe("when the owner's process is gone", () => {
  test("whoever resumes first goes on with the next epoch; a lost agent's slot is handed out again, charged", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    const told = await scouting(a.session);
    await a.host.kill();
    const b = await seat(world, 2);
    const taken = await b.session.run("resume");
    expect([taken.code, taken.epoch], taken.stdout).toEqual([0, 2]);
    expect(taken.did).toEqual(["claimed epoch 2", "ended scout#1@1 (lost)", "handed out scout#2@2"]);
    expect(agentOf(taken).lease).toBe("scout#2@2");
    const before = logBytes(world);
    expect(refusal(await b.session.type(agentOf(told).then))).toEqual([3, "claim.stale"]);
    expect(logBytes(world)).toBe(before);
    // Recovering twice is recovering once.
    const again = await b.session.run("resume");
    expect([again.next, again.epoch]).toEqual([taken.next, 2]);
    expect(logBytes(world)).toBe(before);
  });

  test("what its agent had finished is taken, not done again", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    writeScout(agentOf(await scouting(a.session)));
    await a.host.kill();
    const b = await seat(world, 2);
    const taken = await b.session.run("resume");
    expect(taken.did).toEqual(["claimed epoch 2", "took scout#1@1"]);
    expect(taken.next).toMatchObject({ do: "submit", slot: "plan" });
    expect(eventsOf(world).filter((event) => event.type === "leased")).toHaveLength(1);
  });
});

describe("after the session was ended and cleared", () => {
  test("its process goes on in the next epoch, and a background agent's result of the old lease still counts", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    const told = await scouting(a.session);
    const agent = agentOf(told);
    const started = { subagent_type: "atlas:context-scout", prompt: agent.prompt };
    await a.session.hook("claude", "PreToolUse", { tool_name: "Agent", tool_input: started });
    await a.session.hook("claude", "SessionEnd", { reason: "clear" });
    expect(eventsOf(world).at(-1)).toEqual({ type: "released", epoch: 1, reason: "clear" });
    // Released: the old claim is no claim, in its own hand either.
    expect(refusal(await a.session.type(agent.then))).toEqual([3, "claim.stale"]);

    const next = await seat(world, 2, "clear", a.host);
    const resumed = await next.session.run("resume");
    expect([resumed.code, resumed.epoch], resumed.stdout).toEqual([0, 2]);
    expect(claims(world)[1]).toMatchObject({
      why: "released",
      carried: ["scout#1@1"],
      owner: { session: sessionId(2) },
    });
    expect(resumed.next).toMatchObject({ do: "await", slots: ["scout"] });
    const said = { agent_type: "atlas:context-scout", last_assistant_message: scout(workOf(agent)) };
    await next.session.hook("claude", "SubagentStop", said);
    const taken = await next.session.run("submit", "--run", idOf(told), "--claim", resumed.claim, "--slot", "scout");
    expect(taken.did).toContain("took scout");
    expect(
      eventsOf(world)
        .filter((event) => event.type === "filled")
        .at(-1),
    ).toMatchObject({
      slot: "scout",
      via: "hook",
      lease: "scout#1@1",
    });
  });

  test("another process may claim it, and the leases of the first are given up", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    await scouting(a.session);
    await a.session.hook("claude", "SessionEnd", { reason: "prompt_input_exit" });
    const b = await seat(world, 2);
    const taken = await b.session.run("resume");
    expect(taken.did).toEqual(["claimed epoch 2", "ended scout#1@1 (lost)", "handed out scout#2@2"]);
  });
});

describe("starting", () => {
  test("with an unfinished run in hand is refused; the same packet again is a resume of it", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    const told = await scouting(a.session);
    const other = await begin(a.session, { ...request, intent: "Something else." }, "--headless");
    expect(refusal(other)).toEqual([3, "start.unfinished"]);
    expect(other.refused.fix).toBe(`atlas resume --run ${idOf(told)}`);
    const same = await begin(a.session, request, "--headless");
    expect([same.code, idOf(same), same.epoch]).toEqual([0, idOf(told), 1]);
    expect(claims(world)).toHaveLength(1);
    const ended = await a.session.run("abandon", "--run", idOf(told));
    expect(ended.json).toMatchObject({ abandoned: true });
    const fresh = await begin(a.session, { ...request, intent: "Something else." }, "--headless");
    expect(fresh.next).toMatchObject({ do: "submit", slot: "triage" });
  });

  test("one interactive run a tree: the second is refused at its plan, until the first is over", async () => {
    const world = makeWorld(plugin, tempFolder());
    const a = await seat(world, 1);
    const b = await seat(world, 2);
    const first = await scripted(a.session, { hooks: "claude" }).go(
      await begin(a.session, request),
      (next) => next.do === "dispatch" && next.agents[0].slot === "coder",
    );
    const asked = await scripted(b.session).go(
      await begin(b.session, { ...request, intent: "Something else." }),
      (next) => next.do === "ask",
    );
    const approve = (asked.next as Extract<Instruction, { do: "ask" }>).then.replace("CHOICE", "approve");
    const refused = await b.session.type(approve);
    expect(refusal(refused)).toEqual([3, "tree.in_use"]);
    expect(refused.refused.fix).toContain(`atlas resume --run ${idOf(first)}`);
    expect(refused.refused.reason).toContain(`atlas abandon --run ${idOf(first)}`);
    await a.session.run("abandon", "--run", idOf(first));
    const approved = await b.session.type(approve);
    expect(approved.next).toMatchObject({ do: "ask", gate: "approve-command" });
  });
});

test("where the caller guarantees one container a folder, an owner of another one counts as gone", async () => {
  const folder = tempFolder();
  const world = makeWorld(plugin, folder);
  const a = await seat(world, 1);
  const owner = { ...ownerOf(a.host.pid, "elsewhere"), namespace: "pid:[1]", session: "elsewhere" };
  writeOwnRun(join(world.project, ".atlas"), { owner });
  expect(refusal(await a.session.run("resume"))).toEqual([3, "run.owned"]);
  const exclusive = sit(world, { host: a.host, session: sessionId(1), env: { ATLAS_EXCLUSIVE: "1" } });
  const taken = await exclusive.run("resume");
  expect([taken.code, taken.epoch], taken.stdout).toEqual([0, 2]);
  expect(claims(world)[1]).toMatchObject({ exclusive: true });
  const b = await seat(world, 2);
  const refused = await b.session.run("resume");
  expect(refusal(refused)).toEqual([3, "run.owned"]);
  expect(refused.refused.reason).toContain("ATLAS_EXCLUSIVE=1");
});
