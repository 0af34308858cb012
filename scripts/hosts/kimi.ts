/** Kimi Code: of all hook output only UserPromptSubmit's plain text and a PreToolUse refusal reach the model. */
import { isSpeakableId } from "../core/ids.ts";
import { type Host, type HostEvent, type Output, promptText, type Reply, SILENCE, textOf, toolEvent } from "./event.ts";

export const kimi: Host = {
  name: "kimi",
  heard: ["prompt", "edit"],
  owesAfter: ["compacted"],
  // One server process serves many sessions; agent-level events carry its cwd, not theirs.
  trustsCwd: false,
  pidVariable: null,
  exportsVariable: null,
  commandWords: (pluginRoot, session) => ({
    program: programIn(pluginRoot),
    session: isSpeakableId(session) ? ` --session ${session}` : "",
  }),
  read: readKimi,
  write: writeKimi,
};

function readKimi(on: string, payload: Readonly<Record<string, unknown>>): HostEvent | null {
  switch (on) {
    case "SessionStart":
      return { on: "session-start", source: payload.source === "resume" ? "resume" : "startup" };
    case "PostCompact":
      return { on: "compacted" };
    case "UserPromptSubmit":
      return { on: "prompt", text: promptText(payload.prompt) };
    case "SessionEnd":
      return { on: "session-end", reason: textOf(payload.reason) };
    case "SubagentStop":
      return { on: "agent-stop", role: textOf(payload.agent_name), text: textOf(payload.response) };
    case "PreToolUse":
      return toolEvent(payload);
    default:
      return null;
  }
}

function writeKimi(event: HostEvent, reply: Reply): Output {
  if (event.on === "prompt" && reply.say === "pointer") return { ...SILENCE, stdout: `${reply.text}\n` };
  if (event.on === "edit" && reply.say === "deny") {
    const said = { permissionDecision: "deny", permissionDecisionReason: reply.reason };
    return { ...SILENCE, stdout: `${JSON.stringify({ hookSpecificOutput: said })}\n` };
  }
  return SILENCE;
}

function programIn(pluginRoot: string): string {
  const root = process.platform === "win32" ? pluginRoot.replaceAll("\\", "/") : pluginRoot;
  if (/[\x00-\x1f\x7f]/.test(root)) return "atlas";
  return `node "${`${root}/dist/atlas.cjs`.replace(/["\\$`]/g, "\\$&")}"`;
}
