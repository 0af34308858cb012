import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readChain } from "../../scripts/core/line.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { identityOf, systemProcesses } from "../../scripts/platform/processes.ts";
import { readSession, sessionsOfProcess } from "../../scripts/platform/sessions.ts";
import { ownerOf, RUN, writeOwnRun } from "../support/ledger.ts";
import {
  type HostName,
  heard,
  keptPlugin,
  makeWorld,
  payloadOf,
  runHook,
  snapshotOf,
  useKimiAtlasWorld,
  type World,
} from "./host-world.ts";

let plugin: Awaited<ReturnType<typeof keptPlugin>>;
beforeAll(async () => {
  plugin = await keptPlugin();
});
afterAll(() => plugin.remove());

const uuid = "11111111-2222-4333-8444-555555555555";
const sessionIds = { claude: uuid, kimi: `session_${uuid}` } as const;

function send(world: World, host: HostName, on: string, added: Record<string, unknown> = {}, env = {}) {
  return runHook(plugin, world, host, on, payloadOf(host, on, world, added), env);
}

function observed(home: string): readonly unknown[] {
  const path = join(home, "observed.jsonl");
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}

describe("the session's variable", () => {
  const line = `export ATLAS_SESSION_ID=${uuid}\n`;

  test.each(["startup", "resume", "clear", "fork"])("is exported once at %s, beside what others wrote", (source) => {
    const world = makeWorld();
    const file = join(world.home, "exports.sh");
    writeFileSync(file, "export OTHER=1");
    for (let time = 0; time < 2; time += 1)
      send(world, "claude", "SessionStart", { source }, { CLAUDE_ENV_FILE: file });
    expect(readFileSync(file, "utf8")).toBe(`export OTHER=1\n${line}`);
  });

  test("is not exported after a compaction, nor on Kimi", () => {
    const world = makeWorld();
    const file = join(world.home, "exports.sh");
    send(world, "claude", "SessionStart", { source: "compact" }, { CLAUDE_ENV_FILE: file });
    send(world, "kimi", "SessionStart", { source: "startup" }, { CLAUDE_ENV_FILE: file });
    expect(existsSync(file)).toBe(false);
  });

  test("follows no link, and an empty or unwritable file costs nothing else", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas);
    const target = join(world.home, "target");
    writeFileSync(target, "mine\n");
    symlinkSync(target, join(world.home, "link"));
    for (const file of ["", "relative", "/nonexistent/x", join(world.home, "link"), world.home]) {
      const answer = send(world, "claude", "SessionStart", { source: "startup" }, { CLAUDE_ENV_FILE: file });
      expect(answer).toMatchObject({ code: 0, stderr: "" });
      expect(answer.stdout).toContain("atlas: unfinished run.");
    }
    expect(readFileSync(target, "utf8")).toBe("mine\n");
  });
});

describe("the pointer's turn", () => {
  test("Kimi: owed by a compaction, said with the next prompt, once", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas);
    expect(send(world, "kimi", "SessionStart", { source: "startup" }).stdout).toBe("");
    expect(send(world, "kimi", "UserPromptSubmit", { prompt: "hi" }).stdout).toBe("");
    expect(send(world, "kimi", "PostCompact", { trigger: "auto" }).stdout).toBe("");
    const prompt = [{ type: "text", text: "go on" }];
    expect(send(world, "kimi", "UserPromptSubmit", { prompt }).stdout).toContain(`resume --run ${RUN} --session`);
    expect(send(world, "kimi", "UserPromptSubmit", { prompt }).stdout).toBe("");
  });

  test("Kimi: a prompt looks where its session began, not where the server runs", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas);
    send(world, "kimi", "SessionStart", { source: "startup" });
    send(world, "kimi", "PostCompact", { trigger: "auto", cwd: "/" });
    expect(send(world, "kimi", "UserPromptSubmit", { prompt: "x", cwd: "/" }).stdout).toContain(RUN);
  });

  test("Kimi: a compaction before the end of a process is still owed after its resume", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas);
    send(world, "kimi", "SessionStart", { source: "startup" });
    send(world, "kimi", "PostCompact", { trigger: "manual" });
    send(world, "kimi", "SessionStart", { source: "resume" });
    expect(send(world, "kimi", "UserPromptSubmit", { prompt: "x" }).stdout).toContain(RUN);
  });

  test("Claude: with ATLAS_POINTER=prompt a start is silent and the next prompt carries it, once", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas);
    const env = { ATLAS_POINTER: "prompt" };
    expect(send(world, "claude", "SessionStart", { source: "startup" }, env).stdout).toBe("");
    expect(send(world, "claude", "PostCompact", {}, env).stdout).toBe("");
    const answer = send(world, "claude", "UserPromptSubmit", { prompt: "x" }, env);
    expect(heard("claude", "UserPromptSubmit", answer)).toContain(RUN);
    expect(send(world, "claude", "UserPromptSubmit", { prompt: "x" }, env).stdout).toBe("");
  });

  test("a state folder that cannot be written costs the record only", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas);
    writeFileSync(join(world.home, "state"), "a file in the way");
    expect(send(world, "claude", "SessionStart", { source: "startup" }).stdout).toContain(RUN);
    for (const env of [
      { HOME: "", XDG_STATE_HOME: "" },
      { XDG_STATE_HOME: "relative", HOME: "/dev/null" },
    ]) {
      const answer = send(world, "claude", "SessionStart", { source: "startup" }, env);
      expect(answer).toMatchObject({ code: 0, stderr: "" });
      expect(answer.stdout).toContain(RUN);
    }
    expect(send(world, "kimi", "PostCompact")).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  test("a run this session saw and that is gone is named at its next start, once", () => {
    const world = makeWorld();
    const { folder } = writeOwnRun(world.atlas);
    send(world, "claude", "SessionStart", { source: "startup" });
    rmSync(folder, { recursive: true });
    const lost = `atlas: run ${RUN} lost its ledger; atlas doctor explains.`;
    expect(heard("claude", "SessionStart", send(world, "claude", "SessionStart", { source: "resume" }))).toBe(lost);
    expect(send(world, "claude", "SessionStart", { source: "resume" }).stdout).toBe("");
  });

  test("a run of another living session is left alone; our own after a compaction is ours", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas, { owner: ownerOf(process.ppid, "someone-else") });
    expect(heard("claude", "SessionStart", send(world, "claude", "SessionStart", { source: "startup" }))).toBe(
      `atlas: run ${RUN} belongs to another live session; leave it.`,
    );
    const own = makeWorld();
    writeOwnRun(own.atlas, { owner: ownerOf(process.pid, uuid) });
    expect(heard("claude", "SessionStart", send(own, "claude", "SessionStart", { source: "compact" }))).toContain(
      "owner=ours",
    );
    expect(send(own, "claude", "SessionStart", { source: "startup", session_id: "another" }).stdout).toContain(
      "belongs to another live session",
    );
  });

  test("CLAUDE_PID names the host only where it is an ancestor, and never on Kimi", () => {
    const world = makeWorld();
    const strangerPid = String(process.ppid);
    send(world, "claude", "SessionStart", { source: "startup" }, { CLAUDE_PID: strangerPid });
    send(world, "kimi", "SessionStart", { source: "startup" }, { CLAUDE_PID: strangerPid });
    const pids = [uuid, `session_${uuid}`].map((id) => readSession(realFileSystem, world.state, id)?.pid);
    expect(pids).toEqual([process.ppid, process.pid]);
    send(world, "claude", "SessionStart", { source: "startup" }, { CLAUDE_PID: "999999999" });
    expect(readSession(realFileSystem, world.state, uuid)?.pid).toBe(process.pid);
  });
});

describe("a session's end", () => {
  test.each(["claude", "kimi"] as const)(
    "%s: releases the runs it owns with one sealed line, and its record ends",
    (host) => {
      const world = makeWorld();
      const session = sessionIds[host];
      const { log } = writeOwnRun(world.atlas, { stages: ["INIT"], owner: ownerOf(process.pid, session, host) });
      send(world, host, "SessionStart", { source: "startup" });
      const answer = send(world, host, "SessionEnd", { reason: "clear" });
      expect(answer).toMatchObject({ code: 0, stdout: "", stderr: "" });
      const chain = readChain<{ type: string }>(readFileSync(log), sha256);
      expect(chain).toMatchObject({ noise: 0, end: { at: "end" } });
      expect(chain.lines.at(-1)).toMatchObject({
        seq: 4,
        run_id: RUN,
        by: { verb: "hook", session, epoch: 1 },
        events: [{ type: "released", epoch: 1, reason: "clear" }],
      });
      expect(readSession(realFileSystem, world.state, session)?.ended).toBe(true);
      const start = identityOf(systemProcesses(), process.pid)?.start ?? "";
      expect(sessionsOfProcess(realFileSystem, world.state, process.pid, start)).toEqual([]);
      const before = statSync(log).size;
      send(world, host, "SessionEnd", { reason: "clear" });
      expect(statSync(log).size).toBe(before);
      expect(send(world, "claude", "SessionStart", { source: "clear", session_id: "next" }).stdout).toContain(
        "owner=released",
      );
    },
  );

  test.each([
    ["another session of the same process", () => ownerOf(process.pid, "another")],
    ["the same session in another process", () => ownerOf(process.ppid, uuid)],
    ["nobody", () => null],
  ])("leaves a run of %s alone", (_name, owner) => {
    const world = makeWorld();
    const { folder } = writeOwnRun(world.atlas, { owner: owner() });
    const before = snapshotOf(folder);
    send(world, "claude", "SessionEnd", { reason: "other" });
    expect(snapshotOf(folder)).toEqual(before);
  });

  test("heals a torn tail: the line before it closes, ours counts", () => {
    const world = makeWorld();
    const { log } = writeOwnRun(world.atlas, { owner: ownerOf(process.pid, uuid) });
    appendFileSync(log, '\n{"v":1,"seq":3,"prev":"torn');
    send(world, "claude", "SessionEnd", { reason: "anything <odd>" });
    const chain = readChain<{ type: string }>(readFileSync(log), sha256);
    expect(chain.end).toEqual({ at: "end" });
    expect(chain.lines.at(-1)?.events).toEqual([{ type: "released", epoch: 1, reason: "other" }]);
  });

  test("adds nothing behind a line whose bytes no longer hash to its sum", () => {
    const world = makeWorld();
    const { log } = writeOwnRun(world.atlas, {
      stages: ["INIT", "INTENT_CAPTURED"],
      owner: ownerOf(process.pid, uuid),
    });
    const whole = readFileSync(log, "utf8");
    const damaged = whole.replace(/"INTENT_CAPTURED"(?!.*"INTENT_CAPTURED")/s, '"INTENT_CAPTUREX"');
    expect(damaged).not.toBe(whole);
    writeFileSync(log, damaged);
    send(world, "claude", "SessionEnd", { reason: "other" });
    expect(readFileSync(log, "utf8")).toBe(damaged);
  });

  test("adds nothing to a broken ledger", () => {
    const world = makeWorld();
    const { log } = writeOwnRun(world.atlas, { stages: ["INIT"], owner: ownerOf(process.pid, uuid) });
    const lines = readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    writeFileSync(log, `${lines[0]}\n${lines[2]}\n`);
    const before = readFileSync(log, "utf8");
    send(world, "claude", "SessionEnd", { reason: "other" });
    expect(readFileSync(log, "utf8")).toBe(before);
  });
});

describe("a typed answer", () => {
  test("stands in the session's own record too, where no repository can write", () => {
    const world = makeWorld();
    send(world, "claude", "SessionStart", { source: "startup" });
    send(world, "claude", "UserPromptSubmit", { prompt: "do it: atlas 0123abcd trust" });
    const path = join(world.state, "sessions", `${uuid}.json`);
    expect(JSON.parse(readFileSync(path, "utf8")).typed).toEqual([{ nonce: "0123abcd", choice: "trust" }]);
  });

  test.each(["claude", "kimi"] as const)("%s: is observed beside every unfinished run of ours", (host) => {
    const world = makeWorld();
    const other = "20261130t190001z-1a2b3c";
    const homes = [writeOwnRun(world.atlas).home, writeOwnRun(world.atlas, { id: other }).home];
    const done = writeOwnRun(world.atlas, { id: "20261130t190002z-1a2b3c", ended: true });
    const prompt = [{ type: "text", text: "fine: atlas 0123abcd approve\nand atlas 89abcdef grant:12 please" }];
    expect(send(world, host, "UserPromptSubmit", { prompt }).stdout).toBe("");
    for (const home of homes) {
      expect(observed(home)).toEqual([
        { v: 1, type: "typed", nonce: "0123abcd", choice: "approve", host, session: sessionIds[host] },
        { v: 1, type: "typed", nonce: "89abcdef", choice: "grant:12", host, session: sessionIds[host] },
      ]);
    }
    expect(observed(done.home)).toEqual([]);
  });

  test("is nothing but those words", () => {
    const world = makeWorld();
    const { home } = writeOwnRun(world.atlas);
    for (const prompt of [
      "atlas 0123abcd",
      "atlas 0123ABCD approve",
      "xatlas 0123abcd approve",
      "atlas 0123abcde go",
    ]) {
      send(world, "claude", "UserPromptSubmit", { prompt });
    }
    expect(observed(home)).toEqual([]);
  });

  test("never grows its file past the limit, and follows no link", () => {
    const world = makeWorld();
    const { home } = writeOwnRun(world.atlas);
    const file = join(home, "observed.jsonl");
    writeFileSync(file, "");
    truncateSync(file, 1024 * 1024 - 10);
    send(world, "claude", "UserPromptSubmit", { prompt: "atlas 0123abcd approve" });
    expect(statSync(file).size).toBe(1024 * 1024 - 10);
    rmSync(file);
    const target = join(world.home, "target");
    writeFileSync(target, "");
    symlinkSync(target, file);
    send(world, "claude", "UserPromptSubmit", { prompt: "atlas 0123abcd approve" });
    expect(readFileSync(target, "utf8")).toBe("");
    rmSync(file);
    execFileSync("mkfifo", [file]);
    expect(send(world, "claude", "UserPromptSubmit", { prompt: "atlas 0123abcd approve" }).code).toBe(0);
  });

  test("writes nothing into an original's run", () => {
    const world = makeWorld();
    useKimiAtlasWorld(world, "single-05-coded");
    const before = snapshotOf(world.atlas);
    send(world, "claude", "UserPromptSubmit", { prompt: "atlas 0123abcd approve" });
    expect(snapshotOf(world.atlas)).toEqual(before);
  });
});

describe("an agent's start", () => {
  const prompt = `Read /x/packet.md and do what it says. End your last message with: LEASE ${RUN} coder#1@2`;

  test.each([
    ["claude", "Agent"],
    ["claude", "Task"],
    ["kimi", "Agent"],
  ] as const)("%s %s: is observed under its lease", (host, tool) => {
    const world = makeWorld();
    const { home } = writeOwnRun(world.atlas);
    const answer = send(world, host, "PreToolUse", { tool_name: tool, tool_input: { prompt } });
    expect(answer).toMatchObject({ code: 0, stdout: "", stderr: "" });
    expect(observed(home)).toEqual([{ v: 1, type: "started", lease: "coder#1@2", host, session: sessionIds[host] }]);
  });

  test("is observed in an adopted run's own folder, and not for a finished or unknown run", () => {
    const world = makeWorld();
    useKimiAtlasWorld(world, "single-05-coded");
    const adopted = writeOwnRun(world.atlas, { id: "sess-a", adopted: true });
    const ended = writeOwnRun(world.atlas, { ended: true });
    for (const run of ["sess-a", RUN, "nobody", "../sess-a"]) {
      const tool_input = { prompt: `x LEASE ${run} coder#1@2` };
      send(world, "claude", "PreToolUse", { tool_name: "Agent", tool_input });
    }
    expect(observed(adopted.home)).toHaveLength(1);
    expect(observed(ended.home)).toEqual([]);
    expect(existsSync(join(adopted.folder, "observed.jsonl"))).toBe(false);
  });
});

describe("an agent's stop", () => {
  function handedOut(world: World, lease = "scout#1@2", role = "context-scout") {
    const { home } = writeOwnRun(world.atlas);
    const results = join(home, "results");
    mkdirSync(results);
    const base = join(results, lease.replace(/[#@]/g, "."));
    writeFileSync(`${base}.lease`, JSON.stringify({ lease, slot: lease.split("#")[0], role, epoch: 2 }));
    return { home, base, out: `${base}.out` };
  }

  function stop(world: World, host: HostName, agent: string, text: string) {
    const said =
      host === "claude" ? { agent_type: agent, last_assistant_message: text } : { agent_name: agent, response: text };
    const answer = send(world, host, "SubagentStop", said);
    expect(answer).toMatchObject({ code: 0, stdout: "", stderr: "" });
  }

  const bodies: readonly (readonly [string, string, string])[] = [
    ["plain text", `STATUS: COMPLETE\nLEASE ${RUN} scout#1@2`, "STATUS: COMPLETE"],
    ["one code fence", `\`\`\`json\n{"a": 1}\n\`\`\`\n\nLEASE ${RUN} scout#1@2\n`, '{"a": 1}'],
    ["two fences", `\`\`\`\na\n\`\`\`\n\`\`\`\nb\n\`\`\`\nLEASE ${RUN} scout#1@2`, "```\na\n```\n```\nb\n```"],
    ["text before a fence", `so:\n\`\`\`\na\n\`\`\`\nLEASE ${RUN} scout#1@2`, "so:\n```\na\n```"],
    ["the line in backticks", `done\n\`LEASE ${RUN} scout#1@2\``, "done"],
  ];

  test.each(bodies)("%s: becomes the result of its lease", (_name, message, body) => {
    for (const [host, agent] of [
      ["claude", "atlas:context-scout"],
      ["kimi", "context-scout"],
    ] as const) {
      const world = makeWorld();
      const { home, out } = handedOut(world);
      stop(world, host, agent, message);
      expect(readFileSync(out, "utf8")).toBe(body);
      expect(observed(home)).toEqual([
        { v: 1, type: "stopped", lease: "scout#1@2", agent, host, session: sessionIds[host] },
      ]);
    }
  });

  test("never overwrites a result", () => {
    const world = makeWorld();
    const { out } = handedOut(world);
    stop(world, "claude", "context-scout", `first\nLEASE ${RUN} scout#1@2`);
    stop(world, "claude", "context-scout", `second\nLEASE ${RUN} scout#1@2`);
    expect(readFileSync(out, "utf8")).toBe("first");
  });

  test.each([
    ["another role", "elite-coder", `x\nLEASE ${RUN} scout#1@2`],
    ["a role after another colon", "a:b:context-scout", `x\nLEASE ${RUN} scout#1@2`],
    ["an ended lease", "context-scout", `x\nLEASE ${RUN} scout#2@2`],
    ["more than a megabyte", "context-scout", `${"x".repeat(1024 * 1024 + 1)}\nLEASE ${RUN} scout#1@2`],
  ])("%s: no result, but the stop is observed", (_name, agent, message) => {
    const world = makeWorld();
    const { home, out } = handedOut(world);
    stop(world, "claude", agent, message);
    expect(existsSync(out)).toBe(false);
    expect(observed(home)).toHaveLength(1);
  });

  test.each([
    ["the compaction's own helper", "", `x\nLEASE ${RUN} scout#1@2`],
    ["no lease line", "context-scout", "x"],
    ["a lease line that is not the last", "context-scout", `LEASE ${RUN} scout#1@2\nbye`],
    ["a lease that leaves the folder", "context-scout", `x\nLEASE ${RUN} ../../scout#1@2`],
    ["a run that leaves the folder", "context-scout", "x\nLEASE ../x scout#1@2"],
  ])("%s: nothing at all", (_name, agent, message) => {
    const world = makeWorld();
    const { home } = handedOut(world);
    const before = snapshotOf(world.project);
    stop(world, "claude", agent, message);
    expect(observed(home)).toEqual([]);
    expect(snapshotOf(world.project)).toEqual(before);
  });

  test("a results folder that is a link is not written through", () => {
    const world = makeWorld();
    const { home } = handedOut(world);
    const elsewhere = join(world.home, "elsewhere");
    execFileSync("mv", [join(home, "results"), elsewhere]);
    symlinkSync(elsewhere, join(home, "results"));
    stop(world, "claude", "context-scout", `x\nLEASE ${RUN} scout#1@2`);
    expect(existsSync(join(elsewhere, "scout.1.2.out"))).toBe(false);
  });
});

describe("an edit", () => {
  const reason = "Files below .atlas/ are written by the atlas command only. Run: atlas next";

  test("is refused in each host's own form, or let pass in silence", () => {
    const world = makeWorld();
    const path = join(world.atlas, "x", "log.jsonl");
    const denied = { permissionDecision: "deny", permissionDecisionReason: reason };
    const claude = send(world, "claude", "PreToolUse", { tool_name: "Write", tool_input: { file_path: path } });
    expect(JSON.parse(claude.stdout)).toEqual({ hookSpecificOutput: { hookEventName: "PreToolUse", ...denied } });
    const kimi = send(world, "kimi", "PreToolUse", { tool_name: "Edit", tool_input: { path: ".atlas/x/log.jsonl" } });
    expect(JSON.parse(kimi.stdout)).toEqual({ hookSpecificOutput: denied });
    expect([claude.code, kimi.code]).toEqual([0, 0]);
    for (const tool_input of [{ file_path: join(world.project, "a.ts") }, null, "x"]) {
      expect(send(world, "claude", "PreToolUse", { tool_name: "Write", tool_input }).stdout).toBe("");
    }
  });
});
