/** A host that has the plugin twice, or fires an event twice, within 30 ms: the run is as after one. */
import { spawn } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import { scout, workOf } from "../support/scripted-agents.ts";
import {
  begin,
  builtPlugin,
  eventsOf,
  type HostName,
  makeWorld,
  type Plugin,
  request,
  runFolder,
  type Session,
  scripted,
  sit,
  type Told,
  type World,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

/** Milliseconds between the two. */
const apart = [0, 25] as const;

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

const sessionIds: Readonly<Record<HostName, string>> = {
  claude: "00000000-0000-4000-8000-000000000001",
  kimi: "session_00000000-0000-4000-8000-000000000001",
};

interface Fired {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function fire(world: World, host: HostName, on: string, payload: object): Promise<Fired> {
  const event = { session_id: sessionIds[host], cwd: world.project, hook_event_name: on, ...payload };
  const child = spawn(process.execPath, [world.plugin.cli, "hook", "--host", host, "--on", on], {
    cwd: world.project,
    env: cliEnvironment(world.env),
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] += text;
    });
  }
  child.stdin.end(JSON.stringify(event));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, ...said })));
}

/** A world as it lies before the event, and what goes on from there. */
interface Scene {
  readonly world: World;
  readonly session: Session;
  readonly told: Told;
  readonly again: () => void;
}

async function scene(host: HostName, stop: (next: Instruction) => boolean): Promise<Scene> {
  const folder = tempFolder();
  const world = makeWorld(plugin, folder);
  const session = sit(world, { session: sessionIds[host] });
  await session.hook(host, "SessionStart", { source: "startup" });
  const told = await scripted(session).go(await begin(session, request), stop);
  const state = world.env.XDG_STATE_HOME as string;
  const places = [join(world.project, ".atlas"), state];
  for (const [at, place] of places.entries()) cpSync(place, join(folder, `kept-${at}`), { recursive: true });
  const again = (): void => {
    for (const [at, place] of places.entries()) {
      rmSync(place, { recursive: true });
      cpSync(join(folder, `kept-${at}`), place, { recursive: true });
    }
  };
  return { world, session, told, again };
}

/** What an event leaves behind, but for times, ids and how often it was seen. */
function marksOf(world: World, host: HostName): unknown {
  const run = runFolder(world);
  const results = join(run, "results");
  const files = existsSync(results) ? readdirSync(results).sort() : [];
  const observed = join(run, "observed.jsonl");
  const seen = existsSync(observed) ? readFileSync(observed, "utf8").split("\n").filter(Boolean) : [];
  const record = JSON.parse(
    readFileSync(join(world.env.XDG_STATE_HOME as string, "atlas", "sessions", `${sessionIds[host]}.json`), "utf8"),
  ) as Record<string, unknown>;
  const { compactions, typed, ...kept } = record;
  return {
    events: eventsOf(world),
    results: files.map((name) => [name, readFileSync(join(results, name), "utf8")]),
    observed: [...new Set(seen)],
    record: {
      ...kept,
      typed: [...new Set((typed as object[]).map((one) => JSON.stringify(one)))],
      compacted: compactions !== 0,
    },
    leftovers: [...readdirSync(run), ...readdirSync(join(run, ".."))].filter((name) => name.startsWith(".tmp-")),
  };
}

/** What goes on behind it says the same; nonces, times and hashes are the run's own. */
function plain(told: Told): unknown {
  const { next, code } = told;
  // Of two at once one loses its line; that a resume says so is not what is asked here.
  const did = told.did?.filter((what) => !what.startsWith("passed over"));
  return JSON.parse(
    JSON.stringify({ code, next, did })
      .replace(/[0-9a-f]{8,}/g, "<hex>")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"),
  );
}

const atScout = (next: Instruction) => next.do === "dispatch";
const atPlan = (next: Instruction) => next.do === "ask" && next.gate === "pre-code";
const agentOf = (told: Told): Dispatch => (told.next as Extract<Instruction, { do: "dispatch" }>).agents[0];

const names: Readonly<Record<HostName, string>> = { claude: "atlas:context-scout", kimi: "context-scout" };

/** An event and where a run stands when it comes. */
interface Occasion {
  readonly on: string;
  readonly stop: (next: Instruction) => boolean;
  payload(told: Told, host: HostName): object;
}

const occasions: readonly Occasion[] = [
  { on: "SessionStart", stop: atScout, payload: () => ({ source: "resume" }) },
  { on: "PostCompact", stop: atScout, payload: () => ({ trigger: "auto" }) },
  {
    on: "UserPromptSubmit",
    stop: atPlan,
    payload: (told) => ({ prompt: `yes: atlas ${(told.next as { nonce: string }).nonce} approve` }),
  },
  {
    on: "PreToolUse",
    stop: atScout,
    payload: (told, host) => ({
      tool_name: "Agent",
      tool_input: { subagent_type: names[host], prompt: agentOf(told).prompt },
    }),
  },
  {
    on: "SubagentStop",
    stop: atScout,
    payload(told, host) {
      const text = scout(workOf(agentOf(told)));
      return host === "claude"
        ? { agent_type: names.claude, last_assistant_message: text }
        : { agent_name: names.kimi, response: text };
    },
  },
  { on: "SessionEnd", stop: atScout, payload: () => ({ reason: "clear" }) },
];

describe.each(["claude", "kimi"] as const)("%s: fired twice within 30 ms,", (host) => {
  test.each(occasions)(
    "$on leaves what it leaves fired once, and the run goes on alike",
    async ({ on, stop, payload }) => {
      const { world, session, told, again } = await scene(host, stop);
      const given = payload(told, host);
      const once = await fire(world, host, on, given);
      expect([once.code, once.stderr]).toEqual([0, ""]);
      const marks = marksOf(world, host);
      const after = plain(await session.run("resume"));
      for (const ms of apart) {
        again();
        const first = fire(world, host, on, given);
        await sleep(ms);
        const both = await Promise.all([first, fire(world, host, on, given)]);
        for (const one of both) expect([one.code, one.stderr], `${ms} ms apart`).toEqual([0, ""]);
        expect(
          both.map((one) => one.stdout),
          `${ms} ms apart`,
        ).toContain(once.stdout);
        expect(marksOf(world, host), `${ms} ms apart`).toEqual(marks);
        expect(plain(await session.run("resume")), `${ms} ms apart`).toEqual(after);
      }
    },
  );
});
