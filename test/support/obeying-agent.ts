/** The model as an agent: all it knows stands in its prompt and in the packet the prompt names. */
import { join } from "node:path";
import { type Call, type Conversation, type Reply, type Spoken, say } from "./mock-model.ts";
import type { PrintedQuestion } from "./printed-order.ts";

/** How the host's tools are called. */
export interface Hands {
  readonly bash: (command: string) => Call;
  readonly read: (path: string) => Call;
  readonly write: (path: string, text: string) => Call;
  readonly agent: (type: string, prompt: string) => Call;
  /** The host's own question to its user, where it has one. */
  readonly ask?: (asked: PrintedQuestion) => Call;
}

const promptShape = /^Read (.+) and do what it says\. End your last message with: (LEASE \S+ \S+)$/;

/** The agent's next move; null: this conversation is not an agent's. */
export function agentMove(asked: Conversation, hands: Hands): Reply | null {
  const told = promptOf(asked);
  if (told === null) return null;
  const [, packet = "", lease = ""] = told;
  const results = asked.spoken.filter((spoken) => spoken.by === "host" && spoken.from === "tool");
  if (results.length === 0) return { text: "", calls: [hands.read(packet)] };
  const sheet = unnumbered((results[0] as Spoken).text);
  const [task = "", place = "", form = ""] = sheet.split("\n");
  const answer = jsonForm(form);
  if (answer !== null) return say(`${answer}\n${lease}`);
  if (!form.includes("STATUS: COMPLETE")) return say(`I do not understand my packet: ${task}`);
  if (results.length > 1) return say(`Written as asked.\nSTATUS: COMPLETE\n${lease}`);
  return { text: "", calls: [hands.write(join(quoted(place), scopeOf(sheet)), `${wordOf(sheet)}\n`)] };
}

export function promptOf(asked: Conversation): RegExpExecArray | null {
  for (const spoken of asked.spoken) {
    const told = spoken.by === "host" && spoken.from === "user" ? promptShape.exec(spoken.text.trim()) : null;
    if (told !== null) return told;
  }
  return null;
}

/** Both hosts number the lines of a file they show. */
export function unnumbered(text: string): string {
  return text.replaceAll(/^ *\d+[\t→]/gm, "");
}

/** The packet's own form, filled in: the first of several words, no list entries. */
function jsonForm(line: string): string | null {
  const form = /: (\{.+\}) The very last line/.exec(line)?.[1];
  if (form === undefined) return null;
  const filled = form.replaceAll(/\[[^\]]*\]/g, "[]").replaceAll(/"([\w-]+)(?:\|[\w-]+)+"/g, '"$1"');
  return JSON.stringify(JSON.parse(filled));
}

function quoted(line: string): string {
  return JSON.parse(/"(?:[^"\\]|\\.)*"/.exec(line)?.[0] ?? '""') as string;
}

function block(sheet: string, label: string): string {
  return new RegExp(`<<<DATA (\\w+) ${label}:.*\\n([\\s\\S]*?)\\nDATA \\1 end>>>`).exec(sheet)?.[2] ?? "";
}

function scopeOf(sheet: string): string {
  return quoted(block(sheet, "paths"));
}

/** The request names what to write between backticks. */
function wordOf(sheet: string): string {
  return /`([^`]+)`/.exec(block(sheet, "request"))?.[1] ?? "";
}
