import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sealLine } from "../../scripts/core/line.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
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
  type Told,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

const idOf = (told: Told) => (told.json.run as { id: string }).id;
const lastSeq = (bytes: string) => (JSON.parse(bytes.trimEnd().split("\n").at(-1) as string) as { seq: number }).seq;

async function coded(folder: string) {
  const world = makeWorld(plugin, folder);
  const session = sit(world);
  const run = scripted(session);
  const at = await run.go(await begin(session, request, "--headless"), (next) => next.do === "run");
  return { world, session, at, id: idOf(at) };
}

describe("atlas fork", () => {
  test("a fork's first lines are the parent's byte for byte, the parent stays untouched, and the fork reaches the same end", async () => {
    const { world, session, id } = await coded(tempFolder());
    const parent = logBytes(world, id);
    const at = lastSeq(parent);
    const told = await session.run("fork", "--run", id, "--at", String(at));
    expect(told.code).toBe(0);
    const fork = idOf(told);
    expect(fork).not.toBe(id);
    expect(logBytes(world, id)).toBe(parent);
    expect(logBytes(world, fork).startsWith(parent)).toBe(true);
    const end = await scripted(session).go(told);
    expect(end.next).toMatchObject({ do: "report", status: "unverified" });
    const events = eventsOf(world, fork);
    expect(events.filter((event) => event.type === "leased" && event.slot === "coder")).toHaveLength(1);
    const tree = events.filter((event) => event.type === "filled" && event.slot === "coder").at(-1)?.tree;
    const made = events.filter((event) => event.type === "tree-wanted").at(-1);
    expect(made).toMatchObject({ from: tree });
    expect(
      readFileSync(join(runFolder(world, fork), "worktree", String(made?.name), "src", "add.js"), "utf8"),
    ).toContain("a + b");
  });

  test("two forks of one line, driven alike, write the same events but for ids, times and processes", async () => {
    const { world, session, id } = await coded(tempFolder());
    const at = String(lastSeq(logBytes(world, id)));
    const kinds: string[][] = [];
    for (let round = 0; round < 2; round += 1) {
      const told = await session.run("fork", "--run", id, "--at", at);
      await scripted(session).go(told);
      kinds.push(
        eventsOf(world, idOf(told)).map(
          (event) => `${event.type} ${String(event.slot ?? event.stage ?? event.key ?? "")}`,
        ),
      );
    }
    expect(kinds[0]).toEqual(kinds[1]);
  });

  test("the good prefix of a broken ledger goes on under a new id, and the broken bytes stay", async () => {
    const { world, session, id } = await coded(tempFolder());
    const log = join(runFolder(world, id), "log.jsonl");
    const good = lastSeq(logBytes(world, id));
    const rot = sealLine(
      {
        v: 1,
        seq: good + 2,
        prev: "f".repeat(64),
        ts: "2026-01-01T00:00:00.000Z",
        run_id: id,
        by: { verb: "x", pid: 1, session: null, epoch: 1 },
        events: [],
      },
      sha256,
    );
    appendFileSync(log, `\n${rot.text}\n`);
    const broken = readFileSync(log);
    const refused = await session.run("resume", "--run", id);
    expect(refused.code).toBe(3);
    expect(refused.refused.code).toBe("ledger.chain_broken");
    const told = await session.run("fork", "--run", id, "--at", String(good));
    expect(told.code).toBe(0);
    expect((await scripted(session).go(told)).next.do).toBe("report");
    expect(readFileSync(log).equals(broken)).toBe(true);
  });

  test("a line that is not there is refused, with the last good one as the fix", async () => {
    const { world, session, id } = await coded(tempFolder());
    const told = await session.run("fork", "--run", id, "--at", "9999");
    expect(told.code).toBe(3);
    expect(told.refused.code).toBe("fork.no_line");
    expect(told.refused.fix).toBe(`atlas fork --run ${id} --at ${lastSeq(logBytes(world, id))}`);
    expect(readdirSync(join(world.project, ".atlas")).filter((name) => name.startsWith(".new-"))).toEqual([]);
  });
});

describe("atlas rollback", () => {
  test("an isolated tree goes back to its checkpoint, what stood there is kept, and the run is UNVERIFIED at best", async () => {
    const { world, session, at, id } = await coded(tempFolder());
    const base = eventsOf(world, id).find((event) => event.type === "based");
    const lines = logBytes(world, id)
      .split("\n")
      .filter((line) => line !== "");
    const seq = lines.findIndex((line) => line.includes('"based"')) + 1;
    const told = await session.run("rollback", "--run", id, "--claim", at.claim, "--to", String(seq));
    expect(told.code).toBe(0);
    const made = eventsOf(world, id)
      .filter((event) => event.type === "tree-wanted")
      .at(-1);
    expect(made).toMatchObject({ from: base?.tree });
    expect(readFileSync(join(runFolder(world, id), "worktree", String(made?.name), "src", "add.js"), "utf8")).toContain(
      "a - b",
    );
    const kept = eventsOf(world, id).find((event) => event.type === "tree-kept");
    expect(kept?.ref).toMatch(/^refs\/atlas\/.*\/e1\/kept\//);
    const end = await scripted(session).go(told);
    expect(end.next).toMatchObject({ do: "report", status: "unverified", why: ["rolled.back"] });
  });

  test("the user's own tree is never rolled back", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session, { hooks: "claude" });
    const at = await run.go(await begin(session, request), (next) => next.do === "run");
    const before = readFileSync(join(world.project, "src", "add.js"), "utf8");
    const told = await session.run("rollback", "--run", idOf(at), "--claim", at.claim, "--to", "99");
    expect(told.code).toBe(3);
    expect(told.refused.code).toBe("rollback.not_now");
    expect(readFileSync(join(world.project, "src", "add.js"), "utf8")).toBe(before);
  });
});

describe("atlas report", () => {
  test("says what was asked, each stage's line, gates with grades, and what was resumed", async () => {
    const { world, session, at, id } = await coded(tempFolder());
    await scripted(session).go(at);
    const told = await session.run("report", "--run", id);
    expect(told.code).toBe(0);
    expect(told.json).toMatchObject({
      run: id,
      label: "UNVERIFIED",
      asked: request.intent,
    });
    const stages = told.json.stages as { stage: string }[];
    expect(stages.map((stage) => stage.stage)).toEqual([
      "INIT",
      "INTENT_CAPTURED",
      "TRIAGED",
      "GROUNDED",
      "CODED",
      "VERIFIED",
      "OUTPUT",
    ]);
    expect(told.json.gates).toContainEqual({ gate: "pre-code", choice: "approve", grade: "headless-default" });
    const frozen = expect.objectContaining({ pass: 0, role: "verify", ending: "exited", code: 0 });
    expect(told.json.commands).toContainEqual(frozen);
    expect(existsSync(join(runFolder(world, id), "artifacts", "result.patch"))).toBe(true);
  });
});

describe("atlas report --check", () => {
  test("is equal right after the report, and names the field that was touched or that the run has outgrown", async () => {
    const { world, session, at, id } = await coded(tempFolder());
    expect((await session.run("report", "--run", id, "--check")).refused.code).toBe("report.absent");
    await session.run("report", "--run", id);
    expect((await session.run("report", "--run", id, "--check")).json).toMatchObject({ equal: true });
    const path = join(runFolder(world, id), "report.json");
    const written = readFileSync(path, "utf8");
    writeFileSync(path, written.replace('"label": null', '"label": "VERIFIED"'));
    const forged = await session.run("report", "--run", id, "--check");
    expect([forged.code, forged.refused.code]).toEqual([3, "report.mismatch"]);
    expect(forged.refused.reason).toContain("label");
    writeFileSync(path, written);
    await scripted(session).go(at);
    expect((await session.run("report", "--run", id, "--check")).refused.code).toBe("report.mismatch");
  });
});

describe("atlas resume --wait", () => {
  test("an await ends when a result lands, without a second command", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const dispatched = await scripted(session).go(
      await begin(session, request, "--headless"),
      (next) => next.do === "dispatch",
    );
    const next = dispatched.next as Extract<Told["next"], { do: "dispatch" }>;
    const [agent] = next.agents;
    await session.hook("claude", "PreToolUse", {
      tool_name: "Agent",
      tool_input: { subagent_type: `atlas:${agent.role}`, prompt: agent.prompt },
    });
    const awaiting = await session.run("resume");
    expect(awaiting.next.do).toBe("await");
    const then = (awaiting.next as { then: string }).then;
    const digest =
      '{"repo_mode":"small","relevant_files":[],"conventions":[],"constraints":[],"entry_points":[],"conflicts":[],"untrusted_excerpts":[]}';
    const other = sit(world);
    // The waiting command and the hook run at the same time; whichever is first, the result is taken once.
    const script = `setTimeout(() => require("node:fs").writeFileSync(${JSON.stringify(agent.result)}, ${JSON.stringify(digest)}), 700)`;
    const { spawn } = await import("node:child_process");
    spawn(process.execPath, ["-e", script], { stdio: "ignore" });
    const told = await other.type(then.replace("--wait 100", "--wait 20"));
    expect(told.code).toBe(0);
    expect(told.next).toMatchObject({ do: "submit", slot: "plan" });
    writeFileSync(join(world.project, "..", "done"), "");
  });
});
