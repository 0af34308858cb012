/** Agents that know their trade and nothing of the run: packet, tree and lease come from the prompt they are given. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Dispatch } from "../../scripts/core/kind.ts";

export interface Work {
  readonly agent: Dispatch;
  /** The packet's text. */
  readonly packet: string;
  /** The tree the packet sends the agent to. */
  readonly root: string;
  /** `LEASE <run> <lease>`, as the prompt asks for it. */
  readonly leaseLine: string;
}

/** An agent's last message; null: it is gone without one. */
export type Agent = (work: Work) => string | null;

export function workOf(agent: Dispatch): Work {
  const told = /^Read (.+) and do what it says\. End your last message with: (LEASE \S+ \S+)$/.exec(agent.prompt);
  if (told === null) throw new Error(`a prompt nobody can follow: ${agent.prompt}`);
  const packet = readFileSync(told[1] as string, "utf8");
  const quoted = /"(?:[^"\\]|\\.)*"/.exec(packet.split("\n")[1] ?? "")?.[0];
  if (quoted === undefined) throw new Error("the packet names no tree");
  return { agent, packet, root: JSON.parse(quoted) as string, leaseLine: told[2] as string };
}

export function signed(work: Work, message: string): string {
  return `${message}\n${work.leaseLine}`;
}

const dimensions = {
  CORRECTNESS: "yes",
  "CODE-QUALITY": "yes",
  SECURITY: "yes",
  "TEST-ADEQUACY": "yes",
  "DOES-IT-RUN": "yes",
  "REQUIREMENTS-COVERAGE": "yes",
};

export const scout: Agent = (work) =>
  signed(
    work,
    JSON.stringify({
      repo_mode: "small",
      relevant_files: [{ path: "src/add.js", why: "the sum" }],
      conventions: [],
      constraints: [],
      entry_points: [],
      conflicts: [],
      untrusted_excerpts: [],
    }),
  );

export const content: Agent = (work) => signed(work, JSON.stringify({ dimensions, defects: [], verdict: "OK" }));

/** A critic that blocks, with `fix` as its words to the coder. */
export function blocking(id: string, category: keyof typeof dimensions, fix: string): Agent {
  const defects = [{ id, category, severity: "HIGH", location: "src/add.js:1", fix }];
  return (work) =>
    signed(work, JSON.stringify({ dimensions: { ...dimensions, [category]: "no" }, defects, verdict: "FAIL" }));
}

/** A coder that writes one file and says it is done. */
export function coder(path: string, text: string): Agent {
  return (work) => {
    writeFileSync(join(work.root, path), text);
    return signed(work, "done\nSTATUS: COMPLETE");
  };
}

export const rightSum = "module.exports = (a, b) => a + b;\n";
export const wrongSum = "module.exports = (a, b) => a * b;\n";

export const mending = coder("src/add.js", rightSum);

/** Says something no door takes. */
export const babbling: Agent = (work) => signed(work, "I could not find anything of note.");

export const silent: Agent = () => null;
