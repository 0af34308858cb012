/** Does what an instruction says, with no memory of its own: host, agents and human in one. */
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import type { Outcome } from "../../scripts/verbs/outcome.ts";
import { lay, type Machine, mended, project } from "./power-world.ts";

/** What a command printed. */
export interface Told {
  readonly next: Instruction;
  readonly claim: string;
  readonly did: readonly string[];
  readonly run: { readonly id: string } | null;
}

export type Human = Readonly<Record<string, string>>;

const packetFile = "/packet.json";
const wordsFile = "/words.txt";

export function packetOf(verifyCommand: string): string {
  return JSON.stringify({
    intent: "The sum of two numbers is wrong: mend it.",
    success_criteria: ["1 and 2 make 3"],
    scope_paths: ["src"],
    verify_cmd: verifyCommand,
  });
}

/** The run a command showed; a reading that failed behind a durable line shows none. */
export function idOf(told: Told): string {
  if (told.run === null) throw new Error("refused: no run is shown");
  return told.run.id;
}

export function toldOf(outcome: Outcome): Told {
  if (outcome.exit !== 0) throw new Error(`refused: ${JSON.stringify(outcome.json)}`);
  return outcome.json as unknown as Told;
}

export async function begin(on: Machine, headless: boolean, packet: string): Promise<Told> {
  lay(on.disk, packetFile, packet);
  on.hook("SessionStart", { source: "startup" });
  return toldOf(await on.run("start", "change", "--packet", packetFile, ...(headless ? ["--headless"] : [])));
}

async function type(on: Machine, command: string): Promise<Told> {
  return toldOf(await on.run(...command.split(" ").slice(1)));
}

/** One step; null: there is nothing left to do. */
export async function follow(on: Machine, told: Told, human: Human = {}): Promise<Told | null> {
  const { next } = told;
  switch (next.do) {
    case "submit":
      mustRead(on, next.packet);
      lay(on.disk, next.result, next.slot === "triage" ? '{"archetype":"bugfix"}' : "# Plan\n\nAdd, not subtract.\n");
      return await type(on, next.then);
    case "dispatch": {
      for (const agent of next.agents) work(on, agent);
      let last: Told | null = null;
      for (const agent of next.agents) last = await type(on, agent.then);
      return last;
    }
    case "ask": {
      mustRead(on, next.packet);
      const choice = human[next.gate] ?? (next.options[0] as string);
      on.hook("UserPromptSubmit", { prompt: `atlas ${next.nonce} ${choice}` });
      lay(on.disk, wordsFile, "nothing to add\n");
      return await type(on, next.then.replace("CHOICE", choice).replace("FILE", wordsFile));
    }
    case "run":
      return await type(on, next.command);
    case "await":
      // The agent died with the power, or with its host.
      return await type(on, next.lost);
    case "wait":
      return await type(on, next.then.replace(/--wait \d+/, "--wait 1"));
    default:
      return null;
  }
}

const stepsMax = 60;

/** To the report, or to where `stop` says so of an instruction nobody followed yet. */
export async function toTheEnd(
  on: Machine,
  first: Told,
  human: Human = {},
  stop: (next: Instruction) => boolean = () => false,
): Promise<Told> {
  let told = first;
  for (let step = 0; step < stepsMax; step += 1) {
    if (stop(told.next)) return told;
    const after = await follow(on, told, human);
    if (after === null) return told;
    told = after;
  }
  throw new Error("the run does not come to an end");
}

/** What an instruction names lies there, whole. */
function mustRead(on: Machine, path: string): string {
  const text = on.disk.text(path);
  if (text === null || !/\S/.test(text)) throw new Error(`the instruction names ${path}, and nothing is there`);
  return text;
}

const dimensions = Object.fromEntries(
  ["CORRECTNESS", "CODE-QUALITY", "SECURITY", "TEST-ADEQUACY", "DOES-IT-RUN", "REQUIREMENTS-COVERAGE"].map((name) => [
    name,
    "yes",
  ]),
);
const digest = {
  repo_mode: "small",
  relevant_files: [{ path: "src/add.js", why: "the sum" }],
  conventions: [],
  constraints: [],
  entry_points: [],
  conflicts: [],
  untrusted_excerpts: [],
};

/** An agent under a host whose hooks fire: its start and its last words are written by them. */
function work(on: Machine, agent: Dispatch): void {
  const packet = mustRead(on, agent.packet);
  const root = JSON.parse(/"(?:[^"\\]|\\.)*"/.exec(packet.split("\n")[1] ?? "")?.[0] ?? `"${project}"`) as string;
  for (const [, part] of packet.matchAll(/^([a-z]+\/\d{3}\.\w+) \(\d+ bytes\)$/gm)) {
    mustRead(on, agent.packet.replace(/packet\.md$/, part as string));
  }
  on.hook("PreToolUse", {
    tool_name: "Agent",
    tool_input: { subagent_type: `atlas:${agent.role}`, prompt: agent.prompt },
  });
  let words = JSON.stringify({ dimensions, defects: [], verdict: "OK" });
  if (agent.slot === "scout") words = JSON.stringify(digest);
  if (agent.slot === "coder") {
    const { path, text } = mended(root);
    lay(on.disk, path, text);
    words = "done\nSTATUS: COMPLETE";
  }
  const last_assistant_message = `${words}\n${/LEASE \S+ \S+$/.exec(agent.prompt)?.[0]}`;
  on.hook("SubagentStop", { agent_type: `atlas:${agent.role}`, last_assistant_message });
}
