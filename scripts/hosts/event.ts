/** What a host can tell us and what can be said back, in words no host owns. */

export type HostName = "claude" | "kimi";

export type HostEvent =
  | { readonly on: "session-start"; readonly source: SessionSource }
  | { readonly on: "compacted" }
  | { readonly on: "prompt"; readonly text: string }
  | { readonly on: "session-end"; readonly reason: string }
  | { readonly on: "agent-start"; readonly prompt: string }
  | { readonly on: "agent-stop"; readonly role: string; readonly text: string }
  /** `agent`: the type of the agent that edits, where the host says so. */
  | { readonly on: "edit"; readonly paths: readonly string[]; readonly agent?: string }
  /** A human's choice; `shown`: what was on the screen. */
  | { readonly on: "choice"; readonly nonce: string; readonly choice: string; readonly shown: string }
  | { readonly on: "turn-end" };

export type EventName = HostEvent["on"];

export type SessionSource = "startup" | "resume" | "fork" | "clear" | "compact" | "other";

/** What the run wants to say; the host's module knows whether and how that can be heard. */
export type Reply =
  | { readonly say: "nothing" }
  | { readonly say: "pointer"; readonly text: string }
  | { readonly say: "deny"; readonly reason: string }
  /** The turn is not over. */
  | { readonly say: "go-on"; readonly text: string };

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  /** 2 is never used: both hosts take it as an order to block. */
  readonly exit: 0 | 1;
}

/** How the CLI is called by a model of this host. */
export interface CommandWords {
  /** `atlas`, or the command that starts it where it is not on PATH. */
  readonly program: string;
  /** ` --session ID`, or empty where the session is known without. */
  readonly session: string;
}

export interface Host {
  readonly name: HostName;
  /** Null: nothing of ours, whatever the payload holds. */
  read(on: string, payload: Readonly<Record<string, unknown>>): HostEvent | null;
  write(event: HostEvent, reply: Reply): Output;
  commandWords(pluginRoot: string, session: string): CommandWords;
  /** Events whose reply reaches the model. */
  readonly heard: readonly EventName[];
  /** Events after which the model has lost the pointer and no event but the next prompt can bring it back. */
  readonly owesAfter: readonly EventName[];
  /** Whether every payload's cwd is the session's; if not, only SessionStart's is. */
  readonly trustsCwd: boolean;
  /** Name of the variable that holds the host's own pid. */
  readonly pidVariable: string | null;
  /** Name of the variable that holds a file of shell exports for later commands of the session. */
  readonly exportsVariable: string | null;
}

export const SILENCE: Output = { stdout: "", stderr: "", exit: 0 };

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** A prompt is a string or a list of text parts; both hosts have sent both. */
export function promptText(prompt: unknown): string {
  if (!Array.isArray(prompt)) return textOf(prompt);
  return prompt
    .map((part) => textOf(recordOf(part).text))
    .filter((text) => text !== "")
    .join("\n");
}

const agentTools = new Set(["Agent", "Task"]);
const editTools = new Set(["Write", "Edit", "MultiEdit", "NotebookEdit"]);
const pathKeys = ["file_path", "notebook_path", "path"];

/** A tool about to run, seen by name; null for every tool that is none of ours to judge. */
export function toolEvent(payload: Readonly<Record<string, unknown>>): HostEvent | null {
  const tool = textOf(payload.tool_name);
  const input = recordOf(payload.tool_input);
  if (agentTools.has(tool)) return { on: "agent-start", prompt: promptText(input.prompt) };
  if (!editTools.has(tool)) return null;
  const paths = pathKeys.map((key) => textOf(input[key])).filter((path) => path !== "");
  const agent = textOf(payload.agent_type);
  return { on: "edit", paths, ...(agent === "" ? {} : { agent }) };
}
