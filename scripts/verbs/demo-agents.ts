/**
 * Scripted stand-ins for the model's agents. Each knows its trade and nothing of the run: packet, tree, files and
 * lease it takes from the prompt it is started with.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a file the way the host's tool does. */
export type Edit = (path: string, text: string) => Promise<void>;

/** The agent's last message. Throws for a prompt or a packet that does not say what the agent needs. */
export async function agentMessage(role: string, prompt: string, edit: Edit): Promise<string> {
  const told = /^Read (.+) and do what it says\. End your last message with: (LEASE \S+ \S+)$/.exec(prompt);
  if (told === null) throw new Error(`a prompt nobody can follow: ${prompt}`);
  const sheet = readFileSync(told[1] as string, "utf8");
  return `${await workOf(role, sheet, edit)}\n${told[2]}`;
}

async function workOf(role: string, sheet: string, edit: Edit): Promise<string> {
  const root = rootIn(sheet);
  switch (role) {
    case "context-scout":
      return JSON.stringify(digestOf(root));
    case "elite-coder":
      return await mend(root, scopeIn(sheet), edit);
    default:
      return JSON.stringify(approval);
  }
}

/** The second line of a sheet names the tree as a JSON string. */
function rootIn(sheet: string): string {
  const quoted = /"(?:[^"\\]|\\.)*"/.exec(sheet.split("\n")[1] ?? "")?.[0];
  if (quoted === undefined) throw new Error("the packet names no tree");
  return JSON.parse(quoted) as string;
}

function scopeIn(sheet: string): readonly string[] {
  const block = /<<<DATA (\w+) paths:.*\n([\s\S]*?)\nDATA \1 end>>>/.exec(sheet)?.[2] ?? "";
  return block.split("\n").map((line) => JSON.parse(line) as string);
}

function digestOf(root: string) {
  const files = readdirSync(root).filter((name) => name.endsWith(".mjs"));
  return {
    repo_mode: "small",
    relevant_files: files.map((path) => ({ path, why: firstLine(join(root, path)) })),
    conventions: ["plain ES modules, tests beside the source"],
    constraints: ["no dependencies"],
    entry_points: files.filter((name) => !name.includes(".test.")),
    conflicts: [],
    untrusted_excerpts: [],
  };
}

function firstLine(path: string): string {
  return readFileSync(path, "utf8").split("\n")[0] ?? "";
}

async function mend(root: string, scope: readonly string[], edit: Edit): Promise<string> {
  const mended: string[] = [];
  for (const name of scope) {
    const path = join(root, name);
    const text = readFileSync(path, "utf8");
    const better = text.replace("at < prices.length - 1", "at < prices.length");
    if (better === text) continue;
    await edit(path, better);
    mended.push(name);
  }
  return `Changed: ${mended.join(", ")}. The loop ends after the last price.\nSTATUS: COMPLETE`;
}

const approval = {
  dimensions: {
    CORRECTNESS: "yes",
    "CODE-QUALITY": "yes",
    SECURITY: "yes",
    "TEST-ADEQUACY": "yes",
    "DOES-IT-RUN": "yes",
    "REQUIREMENTS-COVERAGE": "yes",
  },
  defects: [],
  verdict: "OK",
};

/** What the root session itself writes, by slot. */
export function rootAnswer(slot: string): string {
  if (slot === "triage") return '{"archetype": "bugfix"}\n';
  if (slot === "plan") return "# Plan\n\nThe loop in the total stops one price early: let it end after the last.\n";
  throw new Error(`nobody here fills slot ${slot}`);
}
