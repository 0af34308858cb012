/**
 * The child process of the demo that plays Claude Code and its model: it runs the hooks a host runs, and then does
 * what was printed, one instruction after the other. `node demo-host.cjs SESSION [PACKET]`; the project is its cwd.
 *
 * It has no memory and no plan: what to do comes from the hook or, where the hook has nothing to say, from the user's
 * packet. Both sessions of the demo run exactly this. It ends when its stdin does, so it never outlives the demo.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Dispatch, Instruction } from "../core/kind.ts";
import type { NonEmpty } from "../core/result.ts";
import { agentMessage, rootAnswer } from "./demo-agents.ts";
import { type HostLine, lineReader, type Printed } from "./demo-lines.ts";

const program = join(__dirname, "atlas.cjs");
const instructionsMax = 60;
const [session = "", packet = ""] = process.argv.slice(2);
const environment = {
  ...process.env,
  CLAUDECODE: "1",
  CLAUDE_PID: String(process.pid),
  CLAUDE_CODE_SESSION_ID: session,
};
let goOn: (() => void) | null = null;

async function main(): Promise<void> {
  const said = await hook("SessionStart", { source: "startup" });
  const context = (said as { additionalContext?: string } | null)?.additionalContext ?? "";
  const named = /^Now run: (.+)$/m.exec(context)?.[1];
  if (named === undefined && packet === "") throw new Error("neither the hook nor the user says what to do");
  let next = await run(named?.split(" ") ?? ["atlas", "start", "change", "--packet", packet, "--headless"]);
  for (let count = 0; next.do !== "report" && next.do !== "nothing"; count += 1) {
    if (count === instructionsMax) throw new Error("the run does not come to an end");
    next = await follow(next);
  }
  await hook("SessionEnd", { reason: "other" });
  tell({ say: "ended", next });
}

async function follow(next: Instruction): Promise<Instruction> {
  switch (next.do) {
    case "submit":
      // A model reads the recipe first: it must be where the instruction says.
      readFileSync(next.recipe, "utf8");
      await write(next.result, rootAnswer(next.slot));
      return await runLine(next.then);
    case "dispatch":
      return await dispatch(next.agents);
    case "run":
      return await runLine(next.command);
    case "wait":
    case "await":
      return await runLine(next.then);
    default:
      throw new Error(`nobody is here for the instruction "${next.do}"`);
  }
}

/** All agents at once, then each one's command, as long as the program still waits for that agent. */
async function dispatch(agents: NonEmpty<Dispatch>): Promise<Instruction> {
  await Promise.all(
    agents.map(async ({ role, prompt, lease }) => {
      await hook("PreToolUse", { tool_name: "Agent", tool_input: { subagent_type: `atlas:${role}`, prompt } });
      tell({ say: "agent", role, lease, is: "started" });
      const message = await agentMessage(role, prompt, editSlowly);
      await hook("SubagentStop", { agent_type: `atlas:${role}`, last_assistant_message: message });
      tell({ say: "agent", role, lease, is: "returned" });
    }),
  );
  const [first, ...others] = agents;
  let next = await runLine(first.then);
  // A result that a hook has caught is taken without being handed in.
  for (const { slot, then } of others) if (isAwaited(next, slot)) next = await runLine(then);
  return next;
}

function isAwaited(next: Instruction, slot: string): boolean {
  if (next.do === "await") return next.slots.includes(slot);
  return next.do === "dispatch" && next.agents.some((agent) => agent.slot === slot);
}

/** Half of a file, then a word to the demo, and the rest when it answers: the demo may strike in between. */
async function editSlowly(path: string, text: string): Promise<void> {
  await allow(path);
  const answered = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  writeFileSync(path, text.slice(0, Math.floor(text.length / 2)));
  tell({ say: "half-written", path });
  await answered;
  writeFileSync(path, text);
}

async function write(path: string, text: string): Promise<void> {
  await allow(path);
  writeFileSync(path, text);
}

/** As before every edit of a host: a hook may say no. */
async function allow(path: string): Promise<void> {
  const said = await hook("PreToolUse", { tool_name: "Write", tool_input: { file_path: path } });
  if (said !== null) throw new Error(`the hook refuses an edit of ${path}`);
}

async function hook(on: string, payload: Readonly<Record<string, unknown>>): Promise<object | null> {
  const event = { session_id: session, cwd: process.cwd(), hook_event_name: on, ...payload };
  const done = await atlas(["hook", "--host", "claude", "--on", on], JSON.stringify(event));
  if (done.code !== 0) throw new Error(`hook ${on} ended with ${done.code}: ${done.stderr.trim()}`);
  tell({ say: "hook", on, stdout: done.stdout });
  return done.stdout === "" ? null : (JSON.parse(done.stdout) as { hookSpecificOutput: object }).hookSpecificOutput;
}

/** Printed commands hold ids and enumerations only, so words are what stands between blanks. */
function runLine(command: string): Promise<Instruction> {
  return run(command.split(" "));
}

async function run(words: readonly string[]): Promise<Instruction> {
  if (words[0] !== "atlas") throw new Error(`a command that is not atlas: ${words.join(" ")}`);
  const done = await atlas([...words.slice(1), "--json"], "");
  if (done.code !== 0) throw new Error(`${words.join(" ")} ended with ${done.code}: ${done.stdout}${done.stderr}`);
  const printed = JSON.parse(done.stdout) as Printed;
  tell({ say: "ran", words, printed });
  return printed.next;
}

interface Done {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function atlas(words: readonly string[], stdin: string): Promise<Done> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...words], { env: environment });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => out.push(piece));
    child.stderr.on("data", (piece: Buffer) => err.push(piece));
    child.stdin.on("error", () => {});
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout: text(out), stderr: text(err) }));
    child.stdin.end(stdin);
  });
}

function text(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString("utf8");
}

/** Synchronous: the demo kills this process on what it reads, and the line must be whole by then. */
function tell(line: HostLine): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`, "utf8");
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") process.exit(1);
    }
  }
}

process.stdin.setEncoding("utf8");
process.stdin.on(
  "data",
  lineReader(() => goOn?.()),
);
process.stdin.on("end", () => process.exit(1));
main().then(
  () => process.exit(0),
  (error: unknown) => {
    tell({ say: "failed", why: error instanceof Error ? error.message : String(error) });
    process.exit(1);
  },
);
