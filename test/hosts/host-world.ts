/** The entry bundle as a host runs it, in a world of its own: project, home and state folder are temporary. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import { lazyBuiltins } from "../../scripts/build/lazy-builtins.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { keptFolder, tempFolder } from "../support/temp.ts";

export type HostName = "claude" | "kimi";

export interface Plugin {
  readonly root: string;
  readonly entry: string;
  readonly bytes: number;
}

/** Builds the entry into `<root>/dist/atlas.cjs`, with the launchers beside it. */
export async function buildPlugin(root: string): Promise<Plugin> {
  const entry = join(root, "dist", "atlas.cjs");
  const built = await build({
    absWorkingDir: repositoryRoot,
    entryPoints: ["scripts/atlas.ts"],
    bundle: true,
    minify: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "node20.0",
    define: { ATLAS_BUILD: JSON.stringify("test-build") },
    plugins: [lazyBuiltins],
  });
  const contents = built.outputFiles[0]?.contents ?? new Uint8Array();
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(entry, contents);
  cpSync(join(repositoryRoot, "hooks"), join(root, "hooks"), { recursive: true });
  cpSync(join(repositoryRoot, "bin"), join(root, "bin"), { recursive: true });
  return { root, entry, bytes: contents.length };
}

export async function keptPlugin(): Promise<Plugin & { readonly remove: () => void }> {
  const folder = keptFolder();
  return { ...(await buildPlugin(join(folder.path, "plugin"))), remove: folder.remove };
}

export interface World {
  readonly project: string;
  readonly atlas: string;
  readonly home: string;
  readonly state: string;
  readonly env: Record<string, string>;
}

export function makeWorld(name?: string): World {
  const folder = tempFolder(name);
  const [project, home] = [join(folder, "project"), join(folder, "home")];
  mkdirSync(project);
  mkdirSync(home);
  const env = { PATH: process.env.PATH ?? "", HOME: home, XDG_STATE_HOME: join(home, "state") };
  return { project, atlas: join(project, ".atlas"), home, state: join(home, "state", "atlas"), env };
}

export interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export function runHook(
  plugin: Plugin,
  world: World,
  host: HostName,
  on: string,
  payload: unknown,
  env: Record<string, string> = {},
): Answer {
  const begun = performance.now();
  const child = spawnSync(process.execPath, [plugin.entry, "hook", "--host", host, "--on", on], {
    cwd: world.project,
    env: { ...world.env, ...env },
    input: typeof payload === "string" ? payload : JSON.stringify(payload),
    encoding: "utf8",
    timeout: 20_000,
  });
  return { code: child.status, stdout: child.stdout, stderr: child.stderr, ms: performance.now() - begun };
}

/** What the model of this host would read of an answer; null: nothing, or a form the host cannot use. */
export function heard(host: HostName, on: string, answer: Answer): string | null {
  if (host === "kimi") return on === "UserPromptSubmit" && answer.stdout !== "" ? answer.stdout.trimEnd() : null;
  if (on === "PostCompact") return answer.stdout === "" ? null : answer.stdout.trimEnd();
  if (answer.stdout === "") return null;
  const said = (JSON.parse(answer.stdout) as { hookSpecificOutput: Record<string, string> }).hookSpecificOutput;
  return said.hookEventName === on ? (said.additionalContext ?? null) : null;
}

const fixtureFolders = { claude: "claude-code", kimi: "kimi-code" } as const;

export interface Payload {
  readonly name: string;
  readonly on: string;
  readonly text: string;
}

/** Every captured payload of a host, its project folder replaced. */
export function capturedPayloads(host: HostName, project: string): readonly Payload[] {
  const folder = join(repositoryRoot, "test", "fixtures", "hook-stdin", fixtureFolders[host]);
  return readdirSync(folder).map((name) => {
    const text = readFileSync(join(folder, name), "utf8").replaceAll(
      "/home/dev/project",
      JSON.stringify(project).slice(1, -1),
    );
    return { name, on: String((JSON.parse(text) as { hook_event_name: unknown }).hook_event_name), text };
  });
}

export function payloadOf(host: HostName, on: string, world: World, added: Record<string, unknown> = {}) {
  const session =
    host === "claude" ? "11111111-2222-4333-8444-555555555555" : "session_11111111-2222-4333-8444-555555555555";
  return { session_id: session, cwd: world.project, hook_event_name: on, ...added };
}

export function useKimiAtlasWorld(world: World, name: string): void {
  const from = join(repositoryRoot, "test", "fixtures", "kimi-atlas", name, ".atlas");
  rmSync(world.atlas, { recursive: true, force: true });
  cpSync(from, world.atlas, { recursive: true });
}

/** All files below a folder with their bytes: what a hook must not have changed. */
export function snapshotOf(folder: string): Readonly<Record<string, string>> {
  if (!existsSync(folder)) return {};
  const files: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    files[path] = entry.isFile() ? readFileSync(path, "base64") : entry.isDirectory() ? "folder" : "other";
  }
  return files;
}

/** Starts a hook whose stdin stays in the test's hands. */
export function startHook(plugin: Plugin, world: World, host: HostName, on: string) {
  const child = spawn(process.execPath, [plugin.entry, "hook", "--host", host, "--on", on], {
    cwd: world.project,
    env: world.env,
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const begun = performance.now();
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {});
  const answer = new Promise<Answer>((resolve) => {
    child.on("close", (code) => resolve({ code, stdout, stderr, ms: performance.now() - begun }));
  });
  return { stdin: child.stdin, answer };
}
