/** What the replayed cases share: the product as it is shipped, seats at a host, and runs led to a known step. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { buildId } from "../../scripts/build/inputs.ts";
import type { Dispatch, Instruction } from "../../scripts/core/kind.ts";
import { type HostProcess, startHost } from "./host-process.ts";
import { builtCli, cliEnvironment, repositoryRoot } from "./run-cli.ts";
import { type Agent, workOf } from "./scripted-agents.ts";
import {
  begin,
  builtPlugin,
  type HostName,
  makeWorld,
  type Plugin,
  request,
  type Script,
  type Session,
  type Sitting,
  scripted,
  sessionId,
  sit,
  type Told,
  type World,
} from "./scripted-run.ts";
import { tempFolder } from "./temp.ts";

export interface Product {
  /** Only inside a test. */
  readonly plugin: Plugin;
  /** A project of its own, gone after the test. `name` begins its folder's name. */
  world(name?: string, git?: "committed" | "unborn" | "none"): World;
}

/** The checkout itself where its `dist/` is what the sources build, else a build of the sources as they are now. */
export function shipped(): Product {
  let held: Plugin | null = null;
  const plugin = (): Plugin => {
    if (held === null) throw new Error("the product is there inside a test only");
    return held;
  };
  beforeAll(async () => {
    const fresh = readFileSync(builtCli, "utf8").includes(buildId(repositoryRoot));
    held = fresh ? { root: repositoryRoot, cli: builtCli, remove: () => {} } : await builtPlugin();
  });
  afterAll(() => held?.remove());
  return {
    get plugin() {
      return plugin();
    },
    world: (name, git) => makeWorld(plugin(), tempFolder(name), git),
  };
}

/** The plugin as a host has it: copied to `root`, launchers, manifests and all. */
export function installed(product: Product, root: string): Plugin {
  mkdirSync(dirname(root), { recursive: true });
  for (const name of [
    "hooks",
    "bin",
    "references",
    "skills",
    "agents",
    "plugin.json",
    ".claude-plugin",
    ".kimi-plugin",
  ])
    cpSync(join(repositoryRoot, name), join(root, name), { recursive: true });
  cpSync(dirname(product.plugin.cli), join(root, "dist"), { recursive: true });
  return { root, cli: join(root, "dist", "atlas.cjs"), remove: () => {} };
}

/** The hook commands of the installed manifest, by event, as the host hands them to a shell. */
export function hookCommands(host: HostName): ReadonlyMap<string, string> {
  const path = host === "claude" ? "hooks/hooks.json" : ".kimi-plugin/plugin.json";
  const text = readFileSync(join(repositoryRoot, path), "utf8");
  const commands = [...text.matchAll(/"command": (".*")/g)].map((match) => JSON.parse(match[1] as string) as string);
  return new Map(commands.map((command) => [command.split(" ").at(-1) as string, command]));
}

export interface Seat {
  readonly host: HostProcess;
  readonly session: Session;
}

/** A host's process with one session, whose start its hook has told. It dies with the test. */
export async function seat(
  world: World,
  n: number,
  more: Sitting & { readonly source?: string; readonly name?: HostName } = {},
): Promise<Seat> {
  const host = more.host ?? livingHost();
  const session = sit(world, { ...more, host, session: more.session ?? sessionId(n) });
  const told = await session.hook(more.name ?? "claude", "SessionStart", { source: more.source ?? "startup" });
  expect(told.code, told.stderr).toBe(0);
  return { host, session };
}

export function livingHost(): HostProcess {
  const host = startHost();
  onTestFinished(() => host.kill());
  return host;
}

export const idOf = (told: Told): string => (told.json.run as { readonly id: string }).id;
export const refusal = (told: Told) => [told.code, told.refused?.code];

/** The agents a told dispatch hands out. */
export function agentsOf(told: Told): readonly Dispatch[] {
  expect(told.next, told.stdout + told.stderr).toMatchObject({ do: "dispatch" });
  return (told.next as Extract<Instruction, { do: "dispatch" }>).agents;
}

export function agentOf(told: Told): Dispatch {
  return agentsOf(told)[0] as Dispatch;
}

/** A run led by the script until an agent of `slot` is handed out. */
export async function handedOut(
  session: Session,
  slot: string,
  script: Script = {},
  words: readonly string[] = ["--headless"],
): Promise<Told> {
  const isIt = (next: Instruction) => next.do === "dispatch" && next.agents.some((agent) => agent.slot === slot);
  return await scripted(session, script).go(await begin(session, request, ...words), isIt);
}

/** A run that has ended, the shortest way there is: its plan was not wanted. */
export async function ended(session: Session): Promise<Told> {
  return await scripted(session, { gates: { "pre-code": "cancel" } }).go(await begin(session, request));
}

/** The agent's last message, without its lease line, where the hook or the root would have put it. */
export function leaveResult(agent: Dispatch, message: Agent): void {
  const text = message(workOf(agent)) as string;
  writeFileSync(agent.result, agent.slot === "coder" ? text : text.slice(0, text.lastIndexOf("\n")));
}

/** What this host's model reads of a hook's answer; null: nothing. */
export function heardBy(host: HostName, told: Told): string | null {
  if (told.stdout === "") return null;
  if (host === "kimi") return told.stdout.trimEnd();
  const said = (JSON.parse(told.stdout) as { hookSpecificOutput: Record<string, string> }).hookSpecificOutput;
  return said.additionalContext ?? null;
}

/** The command a pointer names. */
export function commandIn(pointer: string | null): string {
  const found = /^Now run: (.+)$/m.exec(pointer ?? "")?.[1];
  if (found === undefined) throw new Error(`no command in: ${pointer}`);
  return found;
}

export interface Typed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command as the shell tool of a host runs it: the plugin's `bin/` on PATH. Without a seat the test is the host. */
export async function typeInShell(
  world: World,
  command: string,
  more: { readonly seat?: Seat; readonly shell?: string; readonly env?: World["env"]; readonly cwd?: string } = {},
): Promise<Typed> {
  const env = cliEnvironment({
    ...world.env,
    PATH: `${join(world.plugin.root, "bin")}:${process.env.PATH}`,
    ...more.env,
  });
  const cwd = more.cwd ?? world.project;
  const program = more.shell ?? "/bin/sh";
  if (more.seat !== undefined)
    return await more.seat.host.call({ program, args: ["-c", command], cwd, env, input: "" });
  const done = spawnSync(program, ["-c", command], { cwd, env, encoding: "utf8", timeout: 30_000 });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

/** Ids of the runs that lie in a project. */
export function runsIn(root: string): readonly string[] {
  try {
    return readdirSync(join(root, ".atlas")).filter((name) => /^\d{8}t/.test(name));
  } catch {
    return [];
  }
}
