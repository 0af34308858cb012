/** Claude Code: JSON on stdout is read, `additionalContext` of SessionStart and UserPromptSubmit reaches the model. */
import {
  type EventName,
  type Host,
  type HostEvent,
  type Output,
  promptText,
  type Reply,
  type SessionSource,
  SILENCE,
  textOf,
  toolEvent,
} from "./event.ts";
import { humanChoice } from "./question.ts";

const sources: readonly SessionSource[] = ["startup", "resume", "fork", "clear", "compact"];

const eventNames: Partial<Record<EventName, string>> = {
  "session-start": "SessionStart",
  prompt: "UserPromptSubmit",
  edit: "PreToolUse",
};

export const claude: Host = {
  name: "claude",
  heard: ["session-start", "compacted", "prompt", "edit", "turn-end"],
  // SessionStart with source "compact" carries the pointer, just before PostCompact.
  owesAfter: [],
  trustsCwd: true,
  pidVariable: "CLAUDE_PID",
  exportsVariable: "CLAUDE_ENV_FILE",
  // A plugin's bin/ is on PATH in the Bash tool, and the session's id is in its environment.
  commandWords: () => ({ program: "atlas", session: "" }),
  read: readClaude,
  write: writeClaude,
};

function readClaude(on: string, payload: Readonly<Record<string, unknown>>): HostEvent | null {
  switch (on) {
    case "SessionStart":
      return { on: "session-start", source: sources.find((source) => source === payload.source) ?? "other" };
    case "PostCompact":
      return { on: "compacted" };
    case "UserPromptSubmit":
      return { on: "prompt", text: promptText(payload.prompt) };
    case "SessionEnd":
      return { on: "session-end", reason: textOf(payload.reason) };
    case "SubagentStop":
      return {
        on: "agent-stop",
        role: textOf(payload.agent_type),
        text: textOf(payload.last_assistant_message),
      };
    case "PreToolUse":
      return toolEvent(payload);
    case "PostToolUse": {
      const chosen = humanChoice(payload);
      return chosen === null ? null : { on: "choice", ...chosen };
    }
    case "Stop":
      return payload.agent_id === undefined ? { on: "turn-end" } : null;
    default:
      return null;
  }
}

function writeClaude(event: HostEvent, reply: Reply): Output {
  if (reply.say === "nothing") return SILENCE;
  if (event.on === "compacted") {
    // Only after a manual compaction is this shown to the model, as plain text; JSON would appear raw.
    return reply.say === "pointer" ? { ...SILENCE, stdout: `${firstLines(reply.text, 2)}\n` } : SILENCE;
  }
  if (reply.say === "go-on") {
    return event.on === "turn-end"
      ? { ...SILENCE, stdout: `${JSON.stringify({ decision: "block", reason: reply.text })}\n` }
      : SILENCE;
  }
  const hookEventName = eventNames[event.on];
  if (hookEventName === undefined) return SILENCE;
  const said =
    reply.say === "deny"
      ? { hookEventName, permissionDecision: "deny", permissionDecisionReason: reply.reason }
      : { hookEventName, additionalContext: reply.text };
  return { ...SILENCE, stdout: `${JSON.stringify({ hookSpecificOutput: said })}\n` };
}

function firstLines(text: string, count: number): string {
  return text.split("\n").slice(0, count).join("\n");
}
