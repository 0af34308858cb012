/**
 * A driver that does only what was printed: every id, slot, path and command comes from the instruction in hand. It has
 * no memory and no plan; what varies between tests is what the agents say and what the human answers.
 */
import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildBundles } from "../../scripts/build/bundle.ts";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { ORIGIN, readChain } from "../../scripts/core/line.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import type { HostProcess } from "./host-process.ts";
import { cliEnvironment, repositoryRoot } from "./run-cli.ts";
import { type Agent, content, mending, scout, workOf } from "./scripted-agents.ts";
import { keptFolder } from "./temp.ts";

export interface Plugin {
  readonly root: string;
  readonly cli: string;
  readonly remove: () => void;
}

/** The sources as they are now, built the way a release is. */
export async function builtPlugin(): Promise<Plugin> {
  const folder = keptFolder("atlas-built-");
  await buildBundles(repositoryRoot, join(folder.path, "dist"));
  cpSync(join(repositoryRoot, "references"), join(folder.path, "references"), { recursive: true });
  return { root: folder.path, cli: join(folder.path, "dist", "atlas.cjs"), remove: folder.remove };
}

export type Env = Readonly<Record<string, string | undefined>>;

export interface World {
  readonly plugin: Plugin;
  readonly project: string;
  readonly env: Env;
}

/** A project whose sum is wrong and whose test says so; a home and a state folder of its own. */
export function makeWorld(plugin: Plugin, folder: string, git: "committed" | "unborn" | "none" = "committed"): World {
  const project = join(folder, "project");
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(join(project, "src", "add.js"), "module.exports = (a, b) => a - b;\n");
  writeFileSync(
    join(project, "check.js"),
    'const sum = require("./src/add.js")(1, 2);\nconsole.log(`sum ${sum}`);\nprocess.exit(sum === 3 ? 0 : 1);\n',
  );
  if (git !== "none") gitIn(project, "init", "-q", ".");
  if (git === "committed") {
    gitIn(project, "add", "-A");
    gitIn(project, "commit", "-qm", "begin");
  }
  return { plugin, project, env: { HOME: join(folder, "home"), XDG_STATE_HOME: join(folder, "state") } };
}

export function gitIn(folder: string, ...args: readonly string[]): string {
  const done = spawnSync("git", args, { cwd: folder, encoding: "utf8" });
  if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
  return done.stdout.trim();
}

export const request = {
  intent: "The sum of two numbers is wrong: mend it.",
  success_criteria: ["1 and 2 make 3"],
  scope_paths: ["src"],
  verify_cmd: "node check.js",
};

/** What a call printed. */
export interface Told {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly next: Instruction;
  readonly did: readonly string[];
  readonly claim: string;
  readonly epoch: number;
  readonly refused: { readonly code: string; readonly reason: string; readonly fix: string };
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Session {
  readonly world: World;
  /** Runs `atlas <words> --json`. */
  run(...words: readonly string[]): Promise<Told>;
  /** Runs a printed command. */
  type(command: string): Promise<Told>;
  hook(host: HostName, on: string, payload: Readonly<Record<string, unknown>>): Promise<Told>;
}

export type HostName = "claude" | "kimi";

export interface Sitting {
  readonly env?: Env;
  /** Another owner than the test's own process. */
  readonly host?: HostProcess;
  readonly cwd?: string;
  readonly session?: string;
}

export function sit(world: World, sitting: Sitting = {}): Session {
  const cwd = sitting.cwd ?? world.project;
  const env = cliEnvironment({ ...world.env, ...sitting.env });
  async function call(words: readonly string[], input: string): Promise<Told> {
    const args = [world.plugin.cli, ...words];
    if (sitting.host !== undefined) return told(await sitting.host.call({ args, cwd, env, input }));
    const done = spawnSync(process.execPath, args, { cwd, env, input, encoding: "utf8", timeout: 60_000 });
    return told({ code: done.status, stdout: done.stdout, stderr: done.stderr });
  }
  const run = (...words: readonly string[]) => call([...words, "--json"], "");
  return {
    world,
    run,
    type(command) {
      const words = command.split(" ");
      if (words[0] !== "atlas") throw new Error(`not a command of ours: ${command}`);
      return run(...words.slice(1));
    },
    hook: (host, on, payload) => {
      const event = { session_id: sitting.session ?? sessionId(1), cwd, hook_event_name: on, ...payload };
      return call(["hook", "--host", host, "--on", on], JSON.stringify(event));
    },
  };
}

/** Types a printed command without waiting for its end, so that two may run at once. */
export function startWords(session: Session, command: string): Promise<Told> {
  const { plugin, project, env } = session.world;
  const words = [plugin.cli, ...command.split(" ").slice(1), "--json"];
  return new Promise((resolve) => {
    execFile(process.execPath, words, { cwd: project, env: cliEnvironment(env) }, (error, stdout, stderr) => {
      resolve(told({ code: error === null ? 0 : Number(error.code), stdout, stderr }));
    });
  });
}

/** Session ids that are told apart. */
export function sessionId(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

/** What a call printed, with the fields of its JSON. */
export function told(done: { readonly code: number | null; readonly stdout: string; readonly stderr: string }): Told {
  let json: Record<string, unknown> = {};
  try {
    json = JSON.parse(done.stdout) as Record<string, unknown>;
  } catch {
    // A hook may say nothing, or plain text.
  }
  return { ...(json as unknown as Told), ...done, json };
}

export interface Script {
  /** What the human chooses, by gate; a list is used up one answer at a time and its last repeats. */
  readonly gates?: Readonly<Record<string, string | readonly string[]>>;
  readonly agents?: Readonly<Record<string, Agent | readonly Agent[]>>;
  /** Whose hooks fire; without them results are written by the root and words are only relayed. */
  readonly hooks?: HostName;
  /** The human's words at gate clarify. */
  readonly words?: string;
}

export interface Step {
  readonly next: Instruction;
  readonly told: Told;
}

export interface ScriptedRun {
  /** Every instruction followed and what came of it. */
  readonly trail: readonly Step[];
  /** Follows until the run reports, or until `stop` says so of an instruction not yet followed. */
  go(told: Told, stop?: (next: Instruction) => boolean): Promise<Told>;
}

const stepsMax = 60;
const rolePrefix: Readonly<Record<HostName, string>> = { claude: "atlas:", kimi: "" };

export function scripted(session: Session, script: Script = {}): ScriptedRun {
  const used = new Map<string, number>();
  const trail: Step[] = [];
  function pick<T>(key: string, given: T | readonly T[]): T {
    if (!Array.isArray(given)) return given as T;
    const list = given as readonly T[];
    const at = used.get(key) ?? 0;
    used.set(key, at + 1);
    return list[Math.min(at, list.length - 1)] as T;
  }

  async function follow(next: Instruction): Promise<Told> {
    switch (next.do) {
      case "submit":
        // A model reads the recipe first: it must be where the instruction says.
        readFileSync(next.recipe, "utf8");
        mkdirSync(dirname(next.result), { recursive: true });
        writeFileSync(
          next.result,
          next.slot === "triage" ? '{"archetype":"bugfix"}' : "# Plan\n\nAdd, not subtract.\n",
        );
        return await session.type(next.then);
      case "dispatch": {
        for (const agent of next.agents) await play(agent);
        let last: Told | null = null;
        for (const agent of next.agents) last = await session.type(agent.then);
        if (last === null) throw new Error("a dispatch of nobody");
        return last;
      }
      case "run":
        return await session.type(next.command);
      case "wait":
      case "await":
        return await session.type(next.then);
      case "ask": {
        const choice = pick(next.gate, script.gates?.[next.gate] ?? (next.options[0] as string));
        if (script.hooks !== undefined) {
          await session.hook(script.hooks, "UserPromptSubmit", { prompt: `yes: atlas ${next.nonce} ${choice}` });
        }
        return await session.type(next.then.replace("CHOICE", choice).replace("FILE", wordsFile()));
      }
      default:
        throw new Error(`nobody follows ${next.do}`);
    }
  }

  function wordsFile(): string {
    writeFileSync(join(dirname(session.world.project), "words.txt"), script.words ?? "nothing to add\n");
    return "../words.txt";
  }

  /** The agent's work and, where a host's hooks fire, what they see of it. */
  async function play(agent: Dispatch): Promise<void> {
    const { hooks } = script;
    const given = script.agents?.[agent.slot] ?? defaults[agent.slot] ?? content;
    if (hooks !== undefined) {
      const input = { subagent_type: `${rolePrefix[hooks]}${agent.role}`, prompt: agent.prompt };
      await session.hook(hooks, "PreToolUse", { tool_name: "Agent", tool_input: input });
    }
    const message = pick(agent.slot, given)(workOf(agent));
    if (message === null) return;
    if (hooks === "claude") {
      const said = { agent_type: `atlas:${agent.role}`, last_assistant_message: message };
      await session.hook("claude", "SubagentStop", said);
    } else if (hooks === "kimi") {
      await session.hook("kimi", "SubagentStop", { agent_name: agent.role, response: message });
    } else {
      mkdirSync(dirname(agent.result), { recursive: true });
      const keepsLine = agent.slot === "coder";
      writeFileSync(agent.result, keepsLine ? message : message.slice(0, message.lastIndexOf("\n")));
    }
  }

  return {
    trail,
    async go(first, stop = () => false) {
      let now = first;
      for (let count = 0; count < stepsMax; count += 1) {
        if (now.next === undefined) throw new Error(`no instruction: ${now.code} ${now.stdout}${now.stderr}`);
        if (now.next.do === "report" || now.next.do === "nothing" || stop(now.next)) return now;
        const told = await follow(now.next);
        trail.push({ next: now.next, told });
        now = told;
      }
      throw new Error("the run does not come to an end");
    },
  };
}

const defaults: Readonly<Record<string, Agent>> = { scout, coder: mending };

/** Says what a human types, through the hook of a host. */
export function typeWords(session: Session, host: HostName, words: string): Promise<Told> {
  return session.hook(host, "UserPromptSubmit", { prompt: words });
}

/** Writes a packet beside the project and starts a run of it. */
export function begin(session: Session, packet: object, ...words: readonly string[]): Promise<Told> {
  const path = join(dirname(session.world.project), "packet.json");
  writeFileSync(path, JSON.stringify(packet));
  return session.run("start", "change", "--packet", path, ...words);
}

/** The folder of the only run, or of `id`. */
export function runFolder(world: World, id?: string): string {
  const atlas = join(world.project, ".atlas");
  const [only] = readdirSync(atlas).filter((name) => /^\d{8}t/.test(name));
  return join(atlas, id ?? (only as string));
}

export function logBytes(world: World, id?: string): string {
  return readFileSync(join(runFolder(world, id), "log.jsonl"), "utf8");
}

export interface LoggedEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Every event of a run, oldest first; lines that lost their place do not count. */
export function eventsOf(world: World, id?: string): readonly LoggedEvent[] {
  const bytes = readFileSync(join(runFolder(world, id), "log.jsonl"));
  return readChain<LoggedEvent>(bytes, sha256, ORIGIN).lines.flatMap((line) => line.events);
}
