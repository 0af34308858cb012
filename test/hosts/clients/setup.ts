/** Once for all test files, before the environment is scrubbed: the clients, and a plugin built from the sources. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildBundles } from "../../../scripts/build/bundle.ts";
import { repositoryRoot } from "../../support/run-cli.ts";
import { keptFolder } from "../../support/temp.ts";
import { type Clients, installClients } from "./install.ts";

declare module "vitest" {
  export interface ProvidedContext {
    clients: Clients;
    /** A copy of what a plugin install copies. */
    plugin: string;
  }
}

const parts = [
  ".claude-plugin",
  ".kimi-plugin",
  "LICENSE",
  "README.md",
  "agents",
  "bin",
  "hooks",
  "plugin.json",
  "references",
  "skills",
];

export async function setup(project: TestProject): Promise<() => void> {
  const folder = keptFolder("atlas-plugin-");
  try {
    for (const part of parts) cpSync(join(repositoryRoot, part), join(folder.path, part), { recursive: true });
    await buildBundles(repositoryRoot, join(folder.path, "dist"));
    project.provide("clients", installClients());
  } catch (error) {
    folder.remove();
    throw error;
  }
  project.provide("plugin", folder.path);
  return folder.remove;
}
