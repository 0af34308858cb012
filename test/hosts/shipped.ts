/** The plugin as it is installed, its hooks run by the command lines that the manifests give to each host's shell. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { manifests, readPlugin } from "../../scripts/build/manifests.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { keptFolder } from "../support/temp.ts";
import { type Answer, buildPlugin, type HostName, type Plugin, payloadOf, type World } from "./host-world.ts";

export const hostNames = ["claude", "kimi"] as const;

export const rootVariables: Readonly<Record<HostName, string>> = {
  claude: "CLAUDE_PLUGIN_ROOT",
  kimi: "KIMI_PLUGIN_ROOT",
};

export interface Registered {
  readonly event: string;
  readonly command: string;
}

export interface Shipped extends Plugin {
  /** Every hook a host has of us, as its manifest says it. */
  readonly hooks: Readonly<Record<HostName, readonly Registered[]>>;
}

interface ClaudeHooks {
  readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>>;
}

function registered(): Shipped["hooks"] {
  const generated = manifests(readPlugin(repositoryRoot));
  const parsed = (path: string): unknown => JSON.parse(generated.get(path) ?? "null");
  const claude = Object.entries((parsed("hooks/hooks.json") as ClaudeHooks).hooks).flatMap(([event, groups]) =>
    groups.flatMap(({ hooks }) => hooks.map(({ command }) => ({ event, command }))),
  );
  const kimi = (parsed(".kimi-plugin/plugin.json") as { readonly hooks: readonly Registered[] }).hooks;
  return { claude, kimi };
}

/** Below a folder of any name; the caller removes it. */
export async function shipPlugin(name = "plugin"): Promise<Shipped & { readonly remove: () => void }> {
  const folder = keptFolder();
  return { ...(await buildPlugin(join(folder.path, name))), hooks: registered(), remove: folder.remove };
}

/** What follows the common fields: enough for each event to do all it ever does. */
export const fields: Readonly<Record<HostName, Readonly<Record<string, Record<string, unknown>>>>> = {
  claude: {
    SessionStart: { source: "startup" },
    PostCompact: { trigger: "auto", compact_summary: "s" },
    UserPromptSubmit: { prompt: "go on: atlas 0123abcd approve" },
    PreToolUse: { tool_name: "Write", tool_input: { file_path: ".atlas/x/log.jsonl" } },
    PostToolUse: { tool_name: "AskUserQuestion", tool_input: { questions: [] }, tool_response: { answers: {} } },
    Stop: { stop_hook_active: false, last_assistant_message: "done", background_tasks: [], session_crons: [] },
    SubagentStop: { agent_type: "atlas:context-scout", last_assistant_message: "done" },
    SessionEnd: { reason: "other" },
  },
  kimi: {
    SessionStart: { source: "startup" },
    PostCompact: { trigger: "auto", estimated_token_count: 9 },
    UserPromptSubmit: { prompt: [{ type: "text", text: "go on: atlas 0123abcd approve" }], is_steer: false },
    PreToolUse: { tool_name: "Write", tool_input: { path: ".atlas/x/log.jsonl" } },
    PostToolUse: { tool_name: "AskUserQuestion", tool_input: {}, tool_output: "" },
    Stop: { stop_hook_active: false },
    SubagentStop: { agent_name: "context-scout", response: "done" },
    SessionEnd: { reason: "exit" },
  },
};

/** The order in which a session meets the events. */
const order = [
  "SessionStart",
  "PreToolUse",
  "PostToolUse",
  "SubagentStop",
  "PostCompact",
  "UserPromptSubmit",
  "Stop",
  "SessionEnd",
];

/** The hooks of a host in that order. */
export function inOrder(plugin: Shipped, host: HostName): readonly Registered[] {
  for (const { event } of plugin.hooks[host])
    if (!order.includes(event) || fields[host][event] === undefined)
      throw new Error(`${host} ${event}: not known here`);
  return [...plugin.hooks[host]].sort((a, b) => order.indexOf(a.event) - order.indexOf(b.event));
}

export function hookOf(plugin: Shipped, host: HostName, event: string): Registered {
  const found = plugin.hooks[host].find((hook) => hook.event === event);
  if (found === undefined) throw new Error(`${host} ${event}: not registered`);
  return found;
}

export type Stdin =
  | { readonly say: string | Buffer; readonly then: "close" | "hold" }
  /** Descriptor 0 is not open at all. */
  | "none";

export interface Firing {
  readonly stdin?: Stdin;
  /** The whole environment instead of the world's; the plugin's folder is added unless it is named here. */
  readonly env?: Readonly<Record<string, string>>;
  readonly added?: Readonly<Record<string, string>>;
  /** Words put before the host's shell: another user, another name space. */
  readonly under?: readonly string[];
  readonly root?: string;
  readonly payload?: Record<string, unknown>;
}

/** One hook as the host starts it; SIGKILL of all its processes after ten seconds, so that a hang is a code of null. */
export function fire(
  plugin: Shipped,
  world: World,
  host: HostName,
  hook: Registered,
  firing: Firing = {},
): Promise<Answer> {
  const root = firing.root ?? plugin.root;
  const payload = payloadOf(host, hook.event, world, { ...fields[host][hook.event], ...firing.payload });
  const stdin = firing.stdin ?? { say: `${JSON.stringify(payload)}\n`, then: "close" };
  const closing = stdin === "none" ? ["/bin/sh", "-c", 'exec "$@" <&-', "sh"] : [];
  const [program = "", ...args] = [...(firing.under ?? []), ...closing, "/bin/sh", "-c", hook.command];
  const begun = performance.now();
  const child = spawn(program, args, {
    // Kimi Code starts a plugin's hooks in the plugin's folder.
    cwd: host === "claude" ? world.project : plugin.root,
    env: { [rootVariables[host]]: root, ...(firing.env ?? world.env), ...firing.added },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const deadline = setTimeout(() => process.kill(-(child.pid as number), "SIGKILL"), 10_000);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  // One that has heard enough may be gone before everything is written.
  child.stdin.on("error", () => {});
  if (stdin !== "none") {
    child.stdin.write(stdin.say);
    if (stdin.then === "close") child.stdin.end();
  }
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(deadline);
      child.stdin.destroy();
      resolve({ code, stdout, stderr, ms: performance.now() - begun });
    });
  });
}

export interface Heard {
  readonly event: string;
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Session {
  readonly heard: readonly Heard[];
  readonly slowestMs: number;
}

/**
 * Every registered event of a host once, one after the other as a session meets them, or all at once where the order
 * tells nothing.
 */
export async function session(
  plugin: Shipped,
  world: World,
  host: HostName,
  firingOf: (hook: Registered) => Firing = () => ({}),
  atOnce = false,
): Promise<Session> {
  const hooks = inOrder(plugin, host);
  const answers: Answer[] = [];
  if (atOnce)
    answers.push(...(await Promise.all(hooks.map((hook) => fire(plugin, world, host, hook, firingOf(hook))))));
  else for (const hook of hooks) answers.push(await fire(plugin, world, host, hook, firingOf(hook)));
  return {
    heard: answers.map(({ code, stdout, stderr }, at) => ({ event: hooks[at]?.event ?? "", code, stdout, stderr })),
    slowestMs: Math.max(...answers.map(({ ms }) => ms)),
  };
}

/** No host waits longer for a hook of ours. */
export const timeMsMax = 2000;

/** Up to three times where the machine was slow: a hook that is slow itself is slow each time. */
export async function inTime<T extends { readonly slowestMs: number }>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const done = await run();
    if (done.slowestMs < timeMsMax || tries === 3) return done;
  }
}

/** What a hook that has nothing to say leaves, at every event. */
export function silences(plugin: Shipped, host: HostName): readonly Heard[] {
  return inOrder(plugin, host).map(({ event }) => ({ event, code: 0, stdout: "", stderr: "" }));
}
