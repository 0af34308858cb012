/** The floors of the house as one table, and the judge of one import. */
import { isBuiltin } from "node:module";
import type { SourceFile } from "./source-tree.ts";

/** Who may import whom, beside the own folder. `verbs` and `atlas.ts` stand above everything. */
const below: Readonly<Record<string, readonly string[]>> = {
  core: [],
  parts: ["core"],
  verify: ["core"],
  platform: ["core"],
  kinds: ["core", "parts", "verify"],
  engine: ["core", "parts", "verify", "platform", "kinds"],
  hosts: ["core", "parts", "verify", "platform", "kinds"],
  verbs: ["core", "parts", "verify", "platform", "kinds", "engine", "hosts"],
  "atlas.ts": ["core", "parts", "verify", "platform", "kinds", "engine", "hosts", "verbs"],
  build: ["core", "platform"],
};

export const PURE_FLOORS: readonly string[] = ["core", "parts", "verify", "kinds"];

const verbNames = new Set(
  "status resume start next submit answer verify fork report rollback graph ping abandon clean doctor hook demo".split(
    " ",
  ),
);

/** `core` of `scripts/core/line.ts`; `atlas.ts` of the entry itself. */
export function floorOf(path: string): string {
  return path.split("/")[1] ?? "";
}

/** Every forbidden import of a file as an arrow `a -> b: why`. */
export function forbiddenArrows(file: SourceFile): readonly string[] {
  return file.imports.flatMap((target) => {
    const why = whyForbidden(file.path, target);
    return why === null ? [] : [`${file.path} -> ${target}: ${why}`];
  });
}

function whyForbidden(from: string, to: string): string | null {
  const floor = floorOf(from);
  const allowed = below[floor];
  if (allowed === undefined) return "the importing file stands on no floor";
  if (!to.startsWith("scripts/")) return whyNotPackage(floor, to);
  const target = floorOf(to);
  if (!to.endsWith(".ts")) return "the import does not name a .ts file";
  if (target !== floor) return allowed.includes(target) ? null : `${floor} may not import ${target}`;
  return whySideways(floor, from, to);
}

function whyNotPackage(floor: string, name: string): string | null {
  if (name.startsWith("..") || name.endsWith(".ts")) return "outside scripts/";
  if (isBuiltin(name) && !name.startsWith("node:")) return "a node module without node:";
  return PURE_FLOORS.includes(floor) && name.startsWith("node:") ? "a pure floor" : null;
}

/** Kinds, verbs and hosts do not know each other. */
function whySideways(floor: string, from: string, to: string): string | null {
  const [mine, theirs] = [unit(floor, from), unit(floor, to)];
  if (mine === null || theirs === null || mine === theirs) return null;
  return `sideways: ${mine} may not import ${theirs}`;
}

/** The kind, verb or host a file belongs to; null: shared by its floor (the registry, `main.ts`, `policy.ts`). */
function unit(floor: string, path: string): string | null {
  const parts = path.split("/");
  if (floor === "kinds") return parts.length > 3 ? `kind ${parts[2]}` : null;
  const name = (parts[2] ?? "").replace(/\.ts$/, "");
  if (floor === "verbs") return verbNames.has(name) ? `verb ${name}` : null;
  if (floor === "hosts") return /^(claude|kimi)/.exec(name)?.[0] ?? null;
  return null;
}
