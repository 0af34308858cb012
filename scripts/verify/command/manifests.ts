/** Package manifests below the tree, read without trust: a fault in one is as if it were absent. */
import { parse as parseJsonc } from "jsonc-parser";
import { inFolder, type Look } from "./following.ts";

export interface Manifest {
  readonly folder: string;
  readonly name: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly workspaces: readonly string[];
  readonly packageManager: string;
}

export function readJson(text: string | null): Readonly<Record<string, unknown>> | null {
  if (text === null) return null;
  try {
    return record(JSON.parse(text.replace(/^\ufeff/, "")));
  } catch {
    return null;
  }
}

export function readJsonc(text: string | null): Readonly<Record<string, unknown>> | null {
  if (text === null) return null;
  try {
    return record(parseJsonc(text, [], { allowTrailingComma: true }));
  } catch {
    return null;
  }
}

export function record(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;
}

export function manifestIn(look: Look, folder: string): Manifest | null {
  const read = readJson(look(inFolder(folder, "package.json")));
  if (read === null) return null;
  const { name, scripts, workspaces, packageManager } = read;
  const patterns = Array.isArray(workspaces) ? workspaces : record(workspaces)?.packages;
  return {
    folder,
    name: textOf(name),
    scripts: textsOf(scripts),
    workspaces: Array.isArray(patterns) ? patterns.filter((one): one is string => typeof one === "string") : [],
    packageManager: textOf(packageManager),
  };
}

/** The manifest of the folder or of the nearest one above it, still below the tree: so package managers find theirs. */
export function nearestManifest(look: Look, folder: string): Manifest | null {
  const parts = folder === "" ? [] : folder.split("/");
  for (let length = parts.length; length >= 0; length -= 1) {
    const found = manifestIn(look, parts.slice(0, length).join("/"));
    if (found !== null) return found;
  }
  return null;
}

export function scriptOf(scripts: Readonly<Record<string, string>>, name: string): string | null {
  return Object.hasOwn(scripts, name) ? (scripts[name] ?? null) : null;
}

/** What `npm init` writes where there are no tests yet. */
export function isPlaceholder(script: string): boolean {
  return (
    /^\s*echo\s+\\?["']?Error: no test specified\\?["']?\s*(?:&&|;)\s*exit 1\s*$/.test(script) || script.trim() === ""
  );
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function textsOf(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(record(value) ?? {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
