/** Handing in: what is taken once and only once, and what an agent's bad ending costs. Real command line, real git. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { resume } from "../../scripts/engine/resume.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { ownEngine } from "../support/own-engine.ts";
import { babbling, content, mending, scout, signed, workOf } from "../support/scripted-agents.ts";
import {
  begin,
  builtPlugin,
  eventsOf,
  gitIn,
  logBytes,
  makeWorld,
  type Plugin,
  request,
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

function agentsOf(told: Told): readonly Dispatch[] {
  expect(told.next, told.stdout).toMatchObject({ do: "dispatch" });
  return (told.next as Extract<Instruction, { do: "dispatch" }>).agents;
}
const dispatchOf = (slot: string) => (next: Instruction) =>
  next.do === "dispatch" && next.agents.some((agent) => agent.slot === slot);
const whyOf = (told: Told) => (told.next.do === "report" ? (told.next.why ?? []) : []);
const refusal = (told: Told) => [told.code, told.refused?.code];

describe("a door", () => {
  test("takes the same bytes once, refuses others, and takes nothing nobody waits for", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const first = await begin(session, request, "--headless");
    const submit = first.next as Extract<Instruction, { do: "submit" }>;
    const other = join(dirname(world.project), "other.json");
    writeFileSync(submit.result, '{"archetype":"bugfix"}');
    writeFileSync(other, '{"archetype":"docs"}');
    expect(refusal(await session.type(`${submit.then.replace("triage", "plan")} --file ${other}`))).toEqual([
      3,
      "slot.unexpected",
    ]);
    const taken = await session.type(submit.then);
    expect(taken.did[0]).toBe("took triage");
    const [agent] = agentsOf(taken) as [Dispatch];

    const log = logBytes(world);
    const again = await session.type(submit.then);
    expect([again.code, again.did]).toEqual([0, ["already triage"]]);
    // What was printed before is in somebody's hands: it is not printed a second time by a repeated hand-in.
    expect(again.next).toMatchObject({ do: "await", slots: ["scout"] });
    expect(refusal(await session.type(`${submit.then} --file ${other}`))).toEqual([3, "slot.filled"]);
    const report = join(dirname(world.project), "report.md");
    writeFileSync(report, "done\nSTATUS: COMPLETE\n");
    expect(refusal(await session.type(`${agent.then.replace("scout", "coder")} --file ${report}`))).toEqual([
      3,
      "slot.unexpected",
    ]);
    expect((await session.type(submit.then.replace("--slot triage", "--slot nonsense"))).refused.code).toBe(
      "slot.unknown",
    );
    // A file somebody names is not the agent's word: in the wrong form it is refused, and nothing is counted.
    expect(refusal(await session.type(`${agent.then} --file ${other}`))).toEqual([3, "slot.shape"]);
    expect(logBytes(world)).toBe(log);
  });

  test("takes parallel results whichever command finds them, and each of their commands once", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session);
    const critics = agentsOf(await run.go(await begin(session, request, "--headless"), dispatchOf("security")));
    expect(critics.map((agent) => agent.slot)).toEqual(["correctness", "code-quality", "security"]);
    for (const agent of critics) {
      const message = content(workOf(agent)) as string;
      writeFileSync(agent.result, message.slice(0, message.lastIndexOf("\n")));
    }
    const told: Told[] = [];
    for (const agent of [...critics].reverse()) told.push(await session.type(agent.then));
    expect(told.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(told.map(({ next }) => next.do)).toEqual(["report", "report", "report"]);
    expect(told[2]?.did).toEqual(["already correctness"]);
    // Long ago, and what it names is gone by now: taken is taken.
    rmSync(join(world.project, "src", "add.js"));
    const [grounded] = run.trail.filter((step) => dispatchOf("scout")(step.next));
    const repeated = await session.type(agentsOf({ next: grounded?.next } as Told)[0]?.then as string);
    expect([repeated.code, repeated.did]).toEqual([0, ["already scout"]]);
    const filled = eventsOf(world).flatMap((event) => (event.type === "filled" ? [event.slot] : []));
    expect(new Set(filled).size).toBe(filled.length);
  });

  test("a report that names another lease, or another run, is refused and changes nothing", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session);
    const told = await run.go(await begin(session, request, "--headless"), dispatchOf("coder"));
    const [first] = agentsOf(told) as [Dispatch];
    const { id } = told.json.run as { id: string };
    const report = join(dirname(world.project), "report.md");
    const before = logBytes(world);
    const hand = async (line: string, command = first.then) => {
      writeFileSync(report, `done\nSTATUS: COMPLETE\n${line}\n`);
      return refusal(await session.type(`${command} --file ${report}`));
    };
    expect(await hand(`LEASE ${id} coder#9@1`)).toEqual([3, "lease.stale"]);
    expect(await hand(`LEASE 20260101t000000z-aaaaaa ${first.lease}`)).toEqual([3, "lease.foreign"]);
    expect(logBytes(world)).toBe(before);

    // The human says the agent is gone: its lease ends, its tree is given up, and what it says later is too late.
    mending(workOf(first));
    const redone = await session.run("resume", "--run", id, "--claim", told.claim, "--redo", "coder");
    const [second] = agentsOf(redone) as [Dispatch];
    expect(second.lease).toBe("coder#2@1");
    expect(workOf(second).root).not.toBe(workOf(first).root);
    expect(readFileSync(join(workOf(second).root, "src", "add.js"), "utf8")).toContain("a - b");
    expect(existsSync(workOf(first).root)).toBe(false);
    const [ref] = gitIn(world.project, "for-each-ref", "--format=%(refname)", `refs/atlas/${id}/`).split("\n");
    expect(gitIn(world.project, "show", `${ref}:src/add.js`)).toContain("a + b");
    expect(await hand(`LEASE ${id} coder#1@1`, second.then)).toEqual([3, "lease.stale"]);
    const gas = eventsOf(world).filter((event) => event.type === "leased");
    expect(gas.map(({ lease }) => lease)).toEqual(["scout#1@1", "coder#1@1", "coder#2@1"]);
  });
});

describe("an agent's message, word for word", () => {
  test("is its answer with the LEASE line, in a fence or not, and without a hook; the artifact is the answer alone", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session);
    const told = await run.go(await begin(session, request, "--headless"), dispatchOf("scout"));
    const [agent] = agentsOf(told) as [Dispatch];
    const message = scout(workOf(agent)) as string;
    const answer = message.slice(0, message.lastIndexOf("\n"));
    writeFileSync(agent.result, `\`\`\`json\n${answer}\n\`\`\`\n${workOf(agent).leaseLine}\n`);
    const planned = await session.type(agent.then);
    expect(planned.did, planned.stdout).toEqual(["took scout"]);
    const taken = eventsOf(world).find((event) => event.type === "filled" && event.slot === "scout");
    expect(taken?.sha256).toBe(sha256(answer));
    // The same message once more, and the same answer as a hook would have written it.
    expect((await session.type(agent.then)).did).toEqual(["already scout"]);
    const copy = join(dirname(world.project), "copy.json");
    writeFileSync(copy, answer);
    expect((await session.type(`${agent.then} --file ${copy}`)).did).toEqual(["already scout"]);

    const critics = agentsOf(await run.go(planned, dispatchOf("security")));
    const fenced = (text: string) => `\`\`\`json\n${text}\n\`\`\`\n`;
    for (const [at, critic] of critics.entries()) {
      const said = content(workOf(critic)) as string;
      writeFileSync(critic.result, at === 0 ? fenced(said) : said);
    }
    const done = await session.type(critics[2]?.then as string);
    expect(done.did.slice(0, 3), done.stdout).toEqual([
      "took security",
      "took correctness#1@1",
      "took code-quality#1@1",
    ]);
    // Judged on what they said: a critic whose artifact cannot be read would be missing.
    expect(whyOf(done).length).toBeGreaterThan(0);
    expect(whyOf(done)).not.toContain("defect.critic-missing");
    expect(eventsOf(world).filter((event) => event.type === "degraded")).toEqual([]);
  });

  test("that names another lease, or another run, is refused in a JSON slot too and changes nothing", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const told = await scripted(session).go(await begin(session, request, "--headless"), dispatchOf("scout"));
    const [agent] = agentsOf(told) as [Dispatch];
    const { id } = told.json.run as { id: string };
    const message = scout(workOf(agent)) as string;
    const answer = message.slice(0, message.lastIndexOf("\n"));
    const before = logBytes(world);
    const file = join(dirname(world.project), "answer.json");
    for (const path of [file, agent.result]) {
      const command = path === file ? `${agent.then} --file ${file}` : agent.then;
      writeFileSync(path, `${answer}\nLEASE ${id} scout#9@1\n`);
      expect(refusal(await session.type(command))).toEqual([3, "lease.stale"]);
      writeFileSync(path, `${answer}\nLEASE 20260101t000000z-aaaaaa ${agent.lease}\n`);
      expect(refusal(await session.type(command))).toEqual([3, "lease.foreign"]);
    }
    expect(logBytes(world)).toBe(before);
  });
});

describe("verify", () => {
  test("asked again it attaches: the command runs once, and every asker gets the same answer", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const outside = dirname(world.project);
    const command = `echo ran >> ${JSON.stringify(join(outside, "ran"))}; while [ ! -e ${JSON.stringify(join(outside, "go"))} ]; do sleep 0.05; done; node check.js`;
    const run = scripted(session);
    const packet = { ...request, verify_cmd: command };
    const told = await run.go(await begin(session, packet, "--headless"), (next) => next.do === "run");
    const verify = (told.next as Extract<Instruction, { do: "run" }>).command;
    const first = await session.type(`${verify} --background`);
    expect(first.next).toMatchObject({ do: "wait", why: "command.running" });
    const second = await session.type(`${verify} --background`);
    expect(second.next).toEqual(first.next);
    const polled = await session.run("resume", "--run", (told.json.run as { id: string }).id, "--claim", told.claim);
    expect(polled.next).toMatchObject({ do: "wait" });

    // Two that watch at once: one records, the other finds it recorded.
    const watchers = [1, 2].map(() => startWords(session, verify));
    writeFileSync(join(outside, "go"), "");
    const ends = await Promise.all(watchers);
    expect(
      ends.map(({ code }) => code),
      JSON.stringify(ends),
    ).toEqual([0, 0]);
    expect(ends[0]?.next).toEqual(ends[1]?.next);
    expect(readFileSync(join(outside, "ran"), "utf8")).toBe("ran\n");
    for (const { json } of ends) expect(json.evidence).toMatchObject({ command: { code: 0 } });
    const events = eventsOf(world);
    expect(events.filter((event) => event.type === "evidence")).toHaveLength(1);
    expect(events.filter((event) => event.type === "effect-began" && event.key === "run-command:0")).toHaveLength(1);
  });
});

describe("a bad ending", () => {
  test("costs a narrower hand-out once, then the slot is given up and the report says so", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session, { agents: { scout: babbling, correctness: babbling } });
    const told = await run.go(await begin(session, request, "--headless"), dispatchOf("scout"));
    const [first] = agentsOf(told) as [Dispatch];
    // Its own result, in the wrong form.
    writeFileSync(first.result, "There is nothing of note.");
    const retried = await session.type(first.then);
    expect(retried.did[0]).toBe("ended scout#1@1 (slot.json)");
    expect(retried.json.fault).toMatchObject({ code: "slot.json" });
    const [second] = agentsOf(retried) as [Dispatch];
    expect(second.lease).toBe("scout#2@1");
    const { packet } = workOf(second);
    expect(packet).toContain("Your answer before was refused");
    expect(packet).toContain("not one JSON value");
    expect(packet).toContain("at most 20 files");
    const given = await session.type(`${second.then} --failed timeout`);
    expect(given.next).toMatchObject({ do: "submit", slot: "plan" });
    const late = await session.type(`${second.then} --failed timeout`);
    expect(refusal(late)).toEqual([3, "lease.none"]);

    const end = await run.go(given);
    expect(end.next).toMatchObject({ do: "report", status: "unverified" });
    expect(whyOf(end)).toEqual(expect.arrayContaining(["defects.blocking", "defect.critic-missing", "scout.degraded"]));
    const events = eventsOf(world);
    expect(events.filter((event) => event.type === "degraded").map(({ slot, why }) => [slot, why])).toEqual([
      ["scout", "timeout"],
      ["correctness", "error"],
    ]);
    const leased = events.filter((event) => event.type === "leased" && event.slot === "correctness");
    expect(leased.map(({ lease }) => lease)).toEqual(["correctness#1@1", "correctness#2@1"]);
  });

  test("of the coder twice ends the run unverified; its half-written trees are kept", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session);
    const told = await run.go(await begin(session, request, "--headless"), dispatchOf("coder"));
    const [first] = agentsOf(told) as [Dispatch];
    writeFileSync(join(workOf(first).root, "half.txt"), "half");
    const retried = await session.type(`${first.then} --failed error`);
    const [second] = agentsOf(retried) as [Dispatch];
    expect(workOf(second).packet).toContain("change at most 20 files");
    expect(readdirSync(workOf(second).root)).not.toContain("half.txt");
    const end = await session.type(`${second.then} --failed refused`);
    expect(end.next).toMatchObject({ do: "report", status: "unverified", why: ["coder.failed"] });
    const { id } = told.json.run as { id: string };
    const [ref] = gitIn(world.project, "for-each-ref", "--format=%(refname)", `refs/atlas/${id}/`).split("\n");
    expect(gitIn(world.project, "show", `${ref}:half.txt`)).toBe("half");
  });

  test("of a coder in the user's own tree needs the human's word that it is gone", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session, { hooks: "claude" });
    const told = await run.go(await begin(session, request), dispatchOf("coder"));
    const [agent] = agentsOf(told) as [Dispatch];
    const failed = await session.type(`${agent.then} --failed timeout`);
    expect(refusal(failed)).toEqual([3, "tree.writer_unknown"]);
    const id = (told.json.run as { id: string }).id;
    const redone = await session.run("resume", "--run", id, "--redo", "coder");
    expect(agentsOf(redone).map(({ lease }) => lease)).toEqual(["coder#2@1"]);
    const [second] = agentsOf(redone) as [Dispatch];
    // Another role's end is not the coder's, whatever lease it names; nor is what nobody's agent said.
    for (const role of ["atlas:context-scout", "elite-coder-2", "atlas:x:elite-coder"]) {
      await session.hook("claude", "SubagentStop", {
        agent_type: role,
        last_assistant_message: signed(workOf(second), "I give up."),
      });
    }
    expect(refusal(await session.type(`${second.then} --failed error`))).toEqual([3, "tree.writer_unknown"]);
    // What a hook saw end is known to have ended.
    const said = { agent_type: "atlas:elite-coder", last_assistant_message: signed(workOf(second), "I give up.") };
    await session.hook("claude", "SubagentStop", said);
    const counted = await session.type(`${second.then} --failed error`);
    expect(agentsOf(counted).map(({ lease }) => lease)).toEqual(["coder#3@1"]);
  });
});

describe("awaiting an agent at work", () => {
  test("blocks until its result is there, or for as long as it was told", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const told = await scripted(session).go(await begin(session, request, "--headless"), dispatchOf("scout"));
    const [agent] = agentsOf(told) as [Dispatch];
    const started = { subagent_type: "atlas:context-scout", prompt: agent.prompt };
    await session.hook("claude", "PreToolUse", { tool_name: "Agent", tool_input: started });
    const first = await session.run("resume");
    const { then } = first.next as Extract<Instruction, { do: "await" }>;
    expect(then).toMatch(/ --wait 100$/);
    const log = logBytes(world);
    const begunMs = performance.now();
    const short = await session.type(then.replace("--wait 100", "--wait 1"));
    expect(performance.now() - begunMs).toBeGreaterThan(1000);
    expect(short.next).toEqual(first.next);
    expect(logBytes(world)).toBe(log);

    const waiting = startWords(session, then);
    const said = { agent_type: "atlas:context-scout", last_assistant_message: scout(workOf(agent)) };
    await session.hook("claude", "SubagentStop", said);
    const woken = await waiting;
    expect(woken.did).toContain("took scout#1@1");
    expect(woken.next).toMatchObject({ do: "submit", slot: "plan" });
  });
});

describe("a deadline", () => {
  test("that passed is reaped by the next resume, and not a moment earlier", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const told = await scripted(session).go(await begin(session, request, "--headless"), dispatchOf("scout"));
    const [agent] = agentsOf(told) as [Dispatch];
    const wish = {
      run: (told.json.run as { id: string }).id,
      claim: told.claim,
      newest: false,
      takeOver: false,
      trust: false,
      readopt: false,
      redo: null,
      waitMs: 0,
      headless: false,
    };
    const deadlineMs = Date.parse(agent.deadline);
    const early = await resume(ownEngine(world, deadlineMs - 1), wish);
    expect(early.ok && early.value.run?.next).toMatchObject({ do: "dispatch", agents: [{ lease: "scout#1@1" }] });
    const late = await resume(ownEngine(world, deadlineMs), wish);
    expect(late.ok && late.value.run?.did).toContain("ended scout#1@1 (timeout)");
    expect(late.ok && late.value.run?.next).toMatchObject({ do: "dispatch", agents: [{ lease: "scout#2@1" }] });
    // Too late: the result of the reaped lease finds nobody.
    const message = scout(workOf(agent)) as string;
    writeFileSync(agent.result, message.slice(0, message.lastIndexOf("\n")));
    const twice = await resume(ownEngine(world, deadlineMs + 31 * 60_000), wish);
    expect(twice.ok && twice.value.run?.next).toMatchObject({ do: "submit", slot: "plan" });
    expect(eventsOf(world).filter((event) => event.type === "degraded")).toHaveLength(1);
  });
});
