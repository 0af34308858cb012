/** Ways in which a run was steered, outlived or silently taken for another one, each through the command line. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Instruction } from "../../scripts/core/kind.ts";
import { load } from "../../scripts/engine/transact.ts";
import { decideAnswer } from "../../scripts/kinds/change/decide-answer.ts";
import type { ChangeEvent } from "../../scripts/kinds/change/events.ts";
import { change } from "../../scripts/kinds/change/kind.ts";
import { outputOptions } from "../../scripts/kinds/change/labels.ts";
import type { ChangeState } from "../../scripts/kinds/change/state.ts";
import { livingStart, systemProcesses } from "../../scripts/platform/processes.ts";
import { folderOf, ownEngine } from "../support/own-engine.ts";
import { coder, rightSum } from "../support/scripted-agents.ts";
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
const atGate = (next: Instruction) => next.do === "ask" && next.gate === "output";

/** Leaves its pid in a file and would write into the tree for ever. */
const lingering = `
const { writeFileSync, appendFileSync } = require("node:fs");
const [, , target, pidFile] = process.argv;
process.on("SIGHUP", () => {});
process.on("SIGTERM", () => {});
writeFileSync(pidFile, String(process.pid));
setInterval(() => appendFileSync(target, "// later\\n"), 10);
`;
const starting = `
const { spawn } = require("node:child_process");
const [, , script, target, pidFile] = process.argv;
spawn(process.execPath, [script, target, pidFile], { detached: true, stdio: "ignore" }).unref();
`;

test("V-06: what the command leaves behind, in a session of its own or deaf to signals, is ended before the evidence is recorded", async () => {
  const world = makeWorld(plugin, tempFolder());
  const outside = dirname(world.project);
  const at = (name: string) => join(outside, name);
  writeFileSync(at("linger.cjs"), lingering);
  writeFileSync(at("start.cjs"), starting);
  const quoted = (name: string) => `'${at(name)}'`;
  const verify = [
    `node ${quoted("start.cjs")} ${quoted("linger.cjs")} src/add.js ${quoted("own-session")}`,
    `(trap '' HUP; nohup node ${quoted("linger.cjs")} src/new.js ${quoted("no-hangup")} >/dev/null 2>&1 &)`,
    `while [ ! -s ${quoted("own-session")} ] || [ ! -s ${quoted("no-hangup")} ]; do sleep 0.02; done`,
    "node check.js",
  ].join("; ");
  const session = sit(world);
  const run = scripted(session, { agents: { coder: coder("src/add.js", rightSum) } });
  const packet = { ...request, verify_cmd: verify };
  const begun = await run.go(await begin(session, packet, "--headless"), (next) => next.do === "run");
  const told = await session.type((begun.next as Extract<Instruction, { do: "run" }>).command);
  expect(told.code, told.stdout).toBe(0);
  const measured = eventsOf(world).find((event) => event.type === "measured");
  expect(measured).toMatchObject({ of: "verify", ending: "exited" });

  for (const name of ["own-session", "no-hangup"]) {
    const pid = Number(readFileSync(at(name), "utf8"));
    // What was ended may wait to be reaped by an init that is not ours.
    expect(livingStart(systemProcesses(), pid), name).toBeNull();
  }
  const records = readdirSync(join(runFolder(world), "artifacts")).filter((name) => name.startsWith("measure-verify."));
  const record = JSON.parse(readFileSync(join(runFolder(world), "artifacts", records[0] as string), "utf8"));
  expect(record.leftovers).toMatch(/^killed [2-9]$/);
  // The tree that was recorded is the tree as it stands: nobody writes any more.
  const [tree] = readdirSync(join(runFolder(world), "worktree"));
  const late = readFileSync(join(runFolder(world), "worktree", tree as string, "src", "add.js"), "utf8");
  expect(late).toContain("// later");
  expect(record.tree.after).not.toBe(record.tree.before);
});

test("V-30: runs that came with the repository are not taken up, whatever they say, and no run's name leads out", async () => {
  const author = makeWorld(plugin, tempFolder());
  await begin(sit(author), request, "--headless");
  gitIn(author.project, "add", "-f", ".atlas");
  const original = join(author.project, ".atlas", "sess-x");
  mkdirSync(original);
  writeFileSync(join(original, "state.json"), '{"run_id":"sess-x","current_state":"CODED","verify_cmd":"touch pwned"}');
  writeFileSync(join(original, "log.jsonl"), '{"run_id":"sess-x","stage":"CODED","ts":"2026-01-01T00:00:00Z"}\n');
  gitIn(author.project, "add", "-f", ".atlas");
  gitIn(author.project, "commit", "-qm", "a gift");

  const folder = tempFolder();
  gitIn(folder, "clone", "-q", author.project, "project");
  const world = {
    ...author,
    project: join(folder, "project"),
    env: { HOME: folder, XDG_STATE_HOME: join(folder, "s") },
  };
  const session = sit(world);
  const listed = (await session.run("status")).json.runs as { resumable: boolean }[];
  expect(listed.map(({ resumable }) => resumable)).toEqual([false, false]);
  const before = logBytes(world);
  for (const words of [["resume"], ["resume", "--newest"], ["resume", "--run", "sess-x"]]) {
    const told = await session.run(...words);
    const taken = told.code === 0 && told.json.run !== null;
    expect(taken, `${words.join(" ")}: ${told.stdout}`).toBe(false);
  }
  for (const name of ["../esc", "..", ".atlas/../../esc"]) {
    const told = await session.run("resume", "--run", name);
    expect([2, 3], told.stdout).toContain(told.code);
  }
  expect(logBytes(world)).toBe(before);
  expect(existsSync(join(folder, "esc"))).toBe(false);
  expect(existsSync(join(world.project, "pwned"))).toBe(false);
  expect(existsSync(join(world.project, ".atlas", "sess-x", "adopted"))).toBe(false);
});

test("V-38: a second request of the same session never inherits the packet of the first", async () => {
  const world = makeWorld(plugin, tempFolder());
  const session = sit(world);
  const first = await begin(session, request, "--headless");
  const other = { ...request, intent: "Something else.", verify_cmd: "node other.js" };
  const refused = await begin(session, other, "--headless");
  expect(refused.code, refused.stdout).toBe(3);
  expect(refused.refused.fix).toContain(idOf(first));
  // The same request is the same run; once that has ended, another one gets a packet of its own.
  expect(idOf(await begin(session, request, "--headless"))).toBe(idOf(first));
  await scripted(session).go(first);
  const second = await begin(session, other, "--headless");
  expect(idOf(second)).not.toBe(idOf(first));
  const report = await session.run("report", "--run", idOf(second));
  expect(report.json.asked).toBe("Something else.");
});

test("V-40: every choice that the output gate shows leads somewhere, in every pass", async () => {
  const world = makeWorld(plugin, tempFolder());
  const session = sit(world);
  const asked = await scripted(session, { hooks: "claude" }).go(await begin(session, request), atGate);
  expect(asked.next.do).toBe("ask");
  const read = load(ownEngine(world), folderOf(runFolder(world)));
  if (!read.ok) throw new Error(read.error.reason);
  const state = read.value.state as ChangeState;
  const shown = new Set<string>();
  for (const pass of [0, 1, 2] as const) {
    const standing = { ...state, phase: { ...state.phase, pass } } as ChangeState;
    const options = outputOptions(standing);
    const open = { ...(standing.gates.open as NonNullable<typeof standing.gates.open>), options };
    const at = { ...standing, gates: { ...standing.gates, open } };
    for (const choice of options) {
      shown.add(choice);
      const decided = decideAnswer(at, { do: "answer", gate: "output", choice, grade: "typed" });
      if (!decided.ok || decided.value === null) throw new Error(`${choice} in pass ${pass} leads nowhere`);
      const events: readonly ChangeEvent[] = decided.value;
      const after = events.reduce<ChangeState>((now, event) => change.apply(now, event, { sum: "s", ts: "" }), at);
      const led = choice === "refine" ? "code" : choice === "follow-up" ? "ended" : "deliver";
      expect(after.phase.at === "prepare" ? after.phase.then.at : after.phase.at, `${choice} ${pass}`).toBe(led);
    }
  }
  expect([...shown].sort()).toEqual(["apply", "discard", "follow-up", "refine"]);
});
