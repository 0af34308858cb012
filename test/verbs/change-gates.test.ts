/** The gates of a change: what is asked, who may answer, and what an answer does. Real command line, real hooks. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import { decideAs } from "../../scripts/engine/change-run.ts";
import { folderOf, ownEngine } from "../support/own-engine.ts";
import {
  begin,
  builtPlugin,
  eventsOf,
  gitIn,
  logBytes,
  makeWorld,
  type Plugin,
  request,
  runFolder,
  type Session,
  scripted,
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

type Ask = Extract<Instruction, { do: "ask" }>;

function asked(told: Told, gate: string): Ask {
  expect(told.next, told.stdout).toMatchObject({ do: "ask", gate });
  return told.next as Ask;
}
const atGate = (gate: string) => (next: Instruction) => next.do === "ask" && next.gate === gate;
const answerWith = (session: Session, ask: Ask, choice: string) => session.type(ask.then.replace("CHOICE", choice));
const whyOf = (told: Told) => (told.next.do === "report" ? (told.next.why ?? []) : []);
const packetOf = (world: World) => {
  const hash = eventsOf(world).findLast((event) => event.type === "packet-set")?.packet as string;
  const folder = join(runFolder(world), "artifacts");
  const name = readdirSync(folder).find((entry) => entry.startsWith(`packet.0.${hash.slice(0, 12)}`)) as string;
  return JSON.parse(readFileSync(join(folder, name), "utf8")) as Record<string, unknown>;
};

describe("gate clarify", () => {
  test("asks once, a question a missing field, takes the words from a file and assumes what they leave open", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const words = "verify_cmd: node check.js\nIt is about integers.\nsuccess: 1 and 2 make 3; so do 2 and 1\n";
    const run = scripted(session, { words });
    const first = asked(await begin(session, { intent: request.intent }), "clarify");
    for (const clause of ["success:", "verify_cmd:", "scope:"]) expect(first.question).toContain(clause);
    expect(first.question.match(/\?/g)?.length).toBeLessThanOrEqual(4);
    expect(first.question).toContain(first.nonce);

    const noFile = await session.type(first.then.replace(" --text FILE", ""));
    expect([noFile.code, noFile.refused.code]).toEqual([3, "gate.no_text"]);

    const after = await run.go({ next: first } as Told, (next) => next.do === "submit");
    expect(after.next).toMatchObject({ do: "submit", slot: "triage" });
    expect(packetOf(world)).toMatchObject({
      verify_cmd: "node check.js",
      success_criteria: ["1 and 2 make 3", "so do 2 and 1"],
      scope_paths: ["."],
    });
    expect(packetOf(world).intent).toContain("It is about integers.");
    const report = await session.run("report");
    expect(report.json.assumptions).toEqual(["scope_paths"]);
    // Asked once, whatever is still missing.
    expect(eventsOf(world).filter((event) => event.type === "asked")).toHaveLength(1);
    const again = await session.type(first.then.replace("FILE", "../words.txt"));
    expect(again.did).toContain("already clarify text");
  });

  test("asks only for what is missing, and never lets an answer rewrite what was asked for", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const { success_criteria: _, ...open } = request;
    const ask = asked(await begin(session, open), "clarify");
    expect(ask.question).not.toContain("verify_cmd:");
    const words = "success: it adds\nverify_cmd: rm -rf /\nscope: everything\n";
    await scripted(session, { words }).go({ next: ask } as Told, (next) => next.do === "submit");
    expect(packetOf(world)).toMatchObject({ verify_cmd: "node check.js", scope_paths: ["src"] });
  });
});

describe("gates pre-code and approve-command", () => {
  test("the plan may be adjusted once; cancelling ends the run with nothing coded", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session);
    const first = asked(await run.go(await begin(session, request), atGate("pre-code")), "pre-code");
    expect(first.options).toEqual(["approve", "adjust", "cancel"]);
    const wordless = await answerWith(session, first, "adjust");
    expect([wordless.code, wordless.refused.code]).toEqual([3, "gate.no_text"]);
    writeFileSync(join(world.project, "..", "adjust.txt"), "smaller, please\n");
    const plan = await answerWith(session, first, "adjust --text ../adjust.txt");
    expect(plan.next).toMatchObject({ do: "submit", slot: "plan" });
    const second = asked(await run.go(plan, atGate("pre-code")), "pre-code");
    expect(second.options).toEqual(["approve", "cancel"]);
    expect(second.nonce).not.toBe(first.nonce);
    const thrice = await answerWith(session, second, "adjust");
    expect([thrice.code, thrice.refused.code]).toEqual([3, "gate.choice"]);
    const unknown = await answerWith(session, second, "ship-it");
    expect([unknown.code, unknown.refused.code]).toEqual([3, "gate.choice"]);

    const end = await answerWith(session, second, "cancel");
    expect(end.next).toMatchObject({ do: "report", status: "unverified", why: ["cancelled"] });
    expect(eventsOf(world).some((event) => event.type === "leased" && event.slot === "coder")).toBe(false);
    const twice = await answerWith(session, second, "cancel");
    expect([twice.code, twice.did]).toEqual([0, ["already pre-code cancel"]]);
    const other = await answerWith(session, second, "approve");
    expect([other.code, other.refused.code]).toEqual([3, "gate.answered"]);
  });

  test.each(["claude", "kimi"] as const)(
    "a word passed on is refused with what the human types; typed where %s sees it, it is taken",
    async (host) => {
      const world = makeWorld(plugin, tempFolder());
      const session = sit(world);
      const run = scripted(session, { gates: { "pre-code": "approve" } });
      const ask = asked(await run.go(await begin(session, request), atGate("approve-command")), "approve-command");
      const before = logBytes(world);
      const relayed = await answerWith(session, ask, "approve");
      expect(relayed.code).toBe(3);
      expect(relayed.refused).toMatchObject({ code: "gate.unattested", fix: `atlas ${ask.nonce} approve` });
      expect(logBytes(world)).toBe(before);

      // Another nonce, another choice: not this gate's word.
      await typeWords(session, host, "atlas 00000000 approve");
      await typeWords(session, host, `atlas ${ask.nonce} reject`);
      expect((await answerWith(session, ask, "approve")).refused.code).toBe("gate.unattested");

      const seen = await typeWords(session, host, `fine with me, ${relayed.refused.fix}`);
      expect(seen.code).toBe(0);
      const typed = await answerWith(session, ask, "approve");
      expect(typed.next, typed.stdout).toMatchObject({ do: "dispatch", agents: [{ slot: "coder" }] });
      const answered = eventsOf(world).filter((event) => event.type === "answered");
      expect(answered.map(({ gate, grade }) => [gate, grade])).toEqual([
        ["pre-code", "relayed"],
        ["approve-command", "typed"],
      ]);
    },
  );

  test("a rejected command is never run: the run ends unverified, and refining is no way around", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const packet = { ...request, verify_cmd: "touch ran" };
    const run = scripted(session);
    const ask = asked(await run.go(await begin(session, packet), atGate("approve-command")), "approve-command");
    const end = asked(await answerWith(session, ask, "reject"), "output");
    expect(end.options).toEqual(["apply", "discard", "follow-up"]);
    const refine = await answerWith(session, end, "refine");
    expect([refine.code, refine.refused.code]).toEqual([3, "gate.choice"]);
    const done = await answerWith(session, end, "follow-up");
    expect(whyOf(done)).toEqual(["command.rejected"]);
    expect(existsSync(join(world.project, "ran"))).toBe(false);
  });
});

describe("gate output", () => {
  test("refine gives the coder another pass; discarding needs the human and takes the change back", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session, { hooks: "claude" });
    const first = asked(await run.go(await begin(session, request), atGate("output")), "output");
    expect(first.options).toEqual(["apply", "refine", "discard"]);
    const relayed = await answerWith(session, first, "discard");
    expect(relayed.refused).toMatchObject({ code: "gate.unattested", fix: `atlas ${first.nonce} discard` });
    const again = await answerWith(session, first, "refine");
    expect(again.next).toMatchObject({ do: "dispatch", agents: [{ slot: "coder" }] });
    expect(again.json.run).toMatchObject({ refine_passes: 1 });
    const second = asked(await run.go(again, atGate("output")), "output");
    await typeWords(session, "claude", `atlas ${second.nonce} discard`);
    const end = await answerWith(session, second, "discard");
    expect(end.next).toMatchObject({ do: "report", status: "unverified" });
    expect(end.json.delivery).toEqual({ choice: "discard", done: true, written: 1, left: 0 });
    expect(readFileSync(join(world.project, "src", "add.js"), "utf8")).toContain("a - b");
    expect(gitIn(world.project, "status", "--porcelain")).toBe("");
  });
});

describe("gate gas", () => {
  test("out of gas asks for more; a grant needs the human, and stopping ends the run without a way around the plan", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session);
    const scout = await run.go(await begin(session, request), (next) => next.do === "dispatch");
    // 48 leases, as 47 agents that died would leave them; each is charged before it is printed.
    const engine = ownEngine(world);
    const folder = folderOf(runFolder(world));
    for (let issued = 1; issued < 48; issued += 1) {
      const ended = { do: "end-lease", lease: `scout#${issued}@1`, why: "redo" } as const;
      expect(decideAs(engine, folder, scout.claim, ended)).toMatchObject({ ok: true, value: { recorded: true } });
      decideAs(engine, folder, scout.claim, { do: "hand-out" });
    }
    const redo = ["resume", "--claim", scout.claim, "--run", folder.id, "--redo", "scout"];
    const ask = asked(await session.run(...redo), "gas");
    expect(ask.options).toEqual(["grant:<n>", "stop"]);
    expect((await answerWith(session, ask, "grant:2")).refused.code).toBe("gate.unattested");
    for (const bad of ["grant:0", "grant:-1", "grant:1000", "grant:2x", "grant"]) {
      expect((await answerWith(session, ask, bad)).refused.code, bad).toBe("gate.choice");
    }
    await typeWords(session, "claude", `atlas ${ask.nonce} grant:1`);
    const granted = await answerWith(session, ask, "grant:1");
    expect(granted.next).toMatchObject({ do: "dispatch", agents: [{ lease: "scout#49@1" }] });
    const twice = await answerWith(session, ask, "grant:1");
    expect(twice.did).toEqual(["already gas grant:1"]);

    const second = asked(await session.run(...redo), "gas");
    const stopped = asked(await answerWith(session, second, "stop"), "output");
    expect(stopped.options).not.toContain("refine");
    const end = await answerWith(session, stopped, "follow-up");
    expect(end.next).toMatchObject({ do: "report", status: "unverified", why: ["gas.exhausted"] });
    const events = eventsOf(world);
    const granted49 = events
      .filter((event) => event.type === "gas-granted")
      .reduce((sum, { amount }) => sum + Number(amount), 0);
    expect(events.filter((event) => event.type === "leased")).toHaveLength(granted49);
  });
});
