/** The grade `host`: what a human chose in the host's own question, seen by the hook. Real command line, real hooks. */
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import { startHost } from "../support/host-process.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import {
  begin,
  builtPlugin,
  eventsOf,
  logBytes,
  makeWorld,
  type Plugin,
  request,
  runFolder,
  type Session,
  scripted,
  sessionId,
  sit,
  type World,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

type Ask = Extract<Instruction, { do: "ask" }>;

const atGate = (gate: string) => (next: Instruction) => next.do === "ask" && next.gate === gate;
const answerWith = (session: Session, ask: Ask, choice: string) => session.type(ask.then.replace("CHOICE", choice));

interface Question {
  question: string;
  header: string;
  multiSelect: boolean;
  options: { label: string; description: string }[];
}

/** What a host sends whose model asked word for word and whose human chose `choice`. */
function payloadOf(ask: Ask, choice: string) {
  const options = ask.options.map((label, at) => ({ label, description: ask.meanings[at] as string }));
  const asked: Question = { question: ask.question, header: "Gate", multiSelect: false, options };
  const said = { questions: [asked], answers: { [ask.question]: choice } as Record<string, string> };
  return { tool_name: "AskUserQuestion", tool_input: said, tool_response: said };
}

type Payload = ReturnType<typeof payloadOf> & { agent_id?: string };

function choose(session: Session, ask: Ask, choice: string, change: (payload: Payload) => void = () => {}) {
  const payload: Payload = payloadOf(ask, choice);
  change(payload);
  return session.hook("claude", "PostToolUse", payload);
}

function firstOf(payload: Payload): Question {
  return payload.tool_response.questions[0] as Question;
}

async function atCommand(session: Session): Promise<Ask> {
  const run = scripted(session, { gates: { "pre-code": "approve" } });
  const told = await run.go(await begin(session, request), atGate("approve-command"));
  return told.next as Ask;
}

function sitting(): { readonly world: World; readonly session: Session } {
  const world = makeWorld(plugin, tempFolder());
  return { world, session: sit(world) };
}

function grades(world: World) {
  return eventsOf(world)
    .filter((event) => event.type === "answered")
    .map(({ gate, choice, grade }) => [gate, choice, grade]);
}

test("an option chosen where the hook sees it needs no word of the model: every gate takes it as the host's", async () => {
  const { world, session } = sitting();
  let told = await begin(session, request);
  for (const [gate, choice] of [
    ["pre-code", "approve"],
    ["approve-command", "approve"],
    ["output", "discard"],
  ] as const) {
    told = await scripted(session).go(told, atGate(gate));
    const ask = told.next as Ask;
    expect(ask.meanings.every((meaning) => meaning !== "")).toBe(true);
    expect(await choose(session, ask, choice)).toMatchObject({ code: 0, stdout: "", stderr: "" });
    told = await answerWith(session, ask, choice);
  }
  expect(told.next).toMatchObject({ do: "report" });
  expect(grades(world)).toEqual([
    ["pre-code", "approve", "host"],
    ["approve-command", "approve", "host"],
    ["output", "discard", "host"],
  ]);
});

test("the text form prints what the question tool takes: question, options and what each of them means", async () => {
  const { world, session } = sitting();
  const ask = await atCommand(session);
  const options = { cwd: world.project, env: cliEnvironment(world.env), encoding: "utf8" } as const;
  const { stdout } = spawnSync(process.execPath, [plugin.cli, "next"], options);
  expect(stdout).toContain(`question: ${ask.question}\noptions: approve | reject\n`);
  for (const [at, option] of ask.options.entries()) expect(stdout).toContain(`\n- ${option}: ${ask.meanings[at]}\n`);
});

const notCounted: readonly (readonly [string, (payload: Payload) => void])[] = [
  [
    "a question an agent asked",
    (payload) => Object.assign(payload, { agent_id: "a1", agent_type: "atlas:elite-coder" }),
  ],
  [
    "the nonce of another gate",
    (payload) => {
      const first = firstOf(payload);
      const text = first.question.replace(/\([0-9a-f]{8}\)/, "(00000000)");
      payload.tool_response.answers = { [text]: "approve" };
      first.question = text;
    },
  ],
  [
    "another question before the right nonce",
    (payload) => {
      const first = firstOf(payload);
      const text = `Shall I run the tests? ${first.question.slice(-10)}`;
      payload.tool_response.answers = { [text]: "approve" };
      first.question = text;
    },
  ],
  [
    "an option that says it means something else",
    (payload) => Object.assign(firstOf(payload).options[0] as object, { description: "Nothing is run" }),
  ],
  ["an option left out", (payload) => firstOf(payload).options.pop()],
  ["an option renamed", (payload) => Object.assign(firstOf(payload).options[1] as object, { label: "never" })],
  ["several choices at once", (payload) => Object.assign(firstOf(payload), { multiSelect: true })],
  [
    "words instead of an option",
    (payload) => Object.assign(payload.tool_response.answers, { [firstOf(payload).question]: "approve it" }),
  ],
  [
    "another option",
    (payload) => Object.assign(payload.tool_response.answers, { [firstOf(payload).question]: "reject" }),
  ],
  ["no answer", (payload) => Object.assign(payload.tool_response, { answers: {} })],
];

describe("does not count, and nothing is recorded:", () => {
  test("anything but an option of exactly the printed question, seen in the session itself", async () => {
    const { world, session } = sitting();
    const ask = await atCommand(session);
    const before = logBytes(world);
    for (const [name, change] of notCounted) {
      await choose(session, ask, "approve", change);
      const refused = await answerWith(session, ask, "approve");
      const fix = `atlas ${ask.nonce} approve`;
      expect([refused.code, refused.refused], name).toEqual([
        3,
        expect.objectContaining({ code: "gate.unattested", fix }),
      ]);
    }
    expect(logBytes(world)).toBe(before);
  });

  test("a choice in another session, in this process or in one that an agent started", async () => {
    const { world, session } = sitting();
    const ask = await atCommand(session);
    // The session that owns the run is known from now on.
    await session.hook("claude", "SessionStart", { source: "startup" });
    const nested = startHost();
    try {
      await choose(sit(world, { host: nested, session: sessionId(2) }), ask, "approve");
      expect((await answerWith(session, ask, "approve")).refused.code).toBe("gate.unattested");
      // The nested host goes on with the very same session.
      await choose(sit(world, { host: nested }), ask, "approve");
      expect((await answerWith(session, ask, "approve")).refused.code).toBe("gate.unattested");
    } finally {
      await nested.kill();
    }
    expect((await answerWith(session, ask, "approve")).refused.code).toBe("gate.unattested");
    await choose(session, ask, "approve");
    expect((await answerWith(session, ask, "approve")).next).toMatchObject({ do: "dispatch" });
  });

  test("a line forged beside the run, whichever session it names", async () => {
    const { world, session } = sitting();
    const ask = await atCommand(session);
    await session.hook("claude", "SessionStart", { source: "startup" });
    await choose(session, ask, "reject");
    const record = join(String(world.env.XDG_STATE_HOME), "atlas", "sessions", `${sessionId(1)}.json`);
    const { chosen } = JSON.parse(readFileSync(record, "utf8")) as { chosen: readonly object[] };
    expect(chosen).toHaveLength(1);
    for (const named of [sessionId(1), "made-up", null]) {
      const line = { v: 1, type: "chosen", ...chosen[0], choice: "approve", host: "claude", session: named };
      appendFileSync(join(runFolder(world), "observed.jsonl"), `\n${JSON.stringify(line)}\n`);
    }
    // So is a whole record of another session.
    const other = join(record, "..", `${sessionId(2)}.json`);
    const forged = { ...JSON.parse(readFileSync(record, "utf8")), session: sessionId(2) };
    writeFileSync(other, JSON.stringify({ ...forged, chosen: [{ ...chosen[0], choice: "approve" }] }));
    expect((await answerWith(session, ask, "approve")).refused.code).toBe("gate.unattested");
  });
});

test("the last choice at a gate counts: who took the first one back has not approved", async () => {
  const { world, session } = sitting();
  const ask = await atCommand(session);
  await choose(session, ask, "approve");
  await choose(session, ask, "reject");
  expect((await answerWith(session, ask, "approve")).refused.code).toBe("gate.unattested");
  await choose(session, ask, "approve", (payload) => firstOf(payload).options.pop());
  expect((await answerWith(session, ask, "approve")).refused.code).toBe("gate.unattested");
  await answerWith(session, ask, "reject");
  expect(grades(world).at(-1)).toEqual(["approve-command", "reject", "relayed"]);
});

test("a choice is for one opening: the gate asked again is not answered by it", async () => {
  const { world, session } = sitting();
  const first = (await scripted(session).go(await begin(session, request), atGate("pre-code"))).next as Ask;
  await choose(session, first, "adjust");
  writeFileSync(join(world.project, "..", "adjust.txt"), "smaller, please\n");
  const plan = await answerWith(session, first, "adjust --text ../adjust.txt");
  await choose(session, first, "approve");
  const second = (await scripted(session).go(plan, atGate("pre-code"))).next as Ask;
  expect(second.nonce).not.toBe(first.nonce);
  await answerWith(session, second, "approve");
  expect(grades(world).map(([, , grade]) => grade)).toEqual(["host", "relayed"]);
});
