/** The command line built from today's sources, run by host processes of our own, in copies of recorded worlds. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { buildBundles } from "../../scripts/build/bundle.ts";
import { worldsFolder } from "./kimi-atlas.ts";
import { cliEnvironment, repositoryRoot } from "./run-cli.ts";
import { keptFolder, tempFolder } from "./temp.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer of the command line is looked at field by field
export type Answer = any;

export interface Told {
  readonly code: number | null;
  /** stdout as JSON; the text itself where it is none. */
  readonly json: Answer;
  readonly stderr: string;
}

export interface Plugin {
  readonly entry: string;
  readonly remove: () => void;
}

/** For `beforeAll`; the caller removes it. */
export async function buildPlugin(): Promise<Plugin> {
  const folder = keptFolder("atlas-plugin-");
  await buildBundles(repositoryRoot, join(folder.path, "dist"));
  return { entry: join(folder.path, "dist", "atlas.cjs"), remove: folder.remove };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Plenty, so that every wave is as wide as the original's own answers. */
const roomy: Environment = { ATLAS_FREE_MB: "100000" };

/** The test's own process is the host: the same one in every call. */
export function atlas(plugin: Plugin, cwd: string, args: readonly string[], env: Environment = {}): Told {
  const child = spawnSync(process.execPath, [plugin.entry, ...args, "--json"], {
    cwd,
    env: cliEnvironment({ ...roomy, ...env }),
    encoding: "utf8",
    timeout: 30_000,
    killSignal: "SIGKILL",
    maxBuffer: 64 * 1024 * 1024,
  });
  return { code: child.status, json: parsed(child.stdout), stderr: child.stderr };
}

/** One host event, as the host's process would send it. */
export function hook(plugin: Plugin, cwd: string, on: string, payload: object, env: Environment = {}): Told {
  const child = spawnSync(process.execPath, [plugin.entry, "hook", "--host", "claude", "--on", on], {
    cwd,
    env: cliEnvironment(env),
    input: JSON.stringify({ cwd, hook_event_name: on, ...payload }),
    encoding: "utf8",
    timeout: 20_000,
  });
  return { code: child.status, json: parsed(child.stdout), stderr: child.stderr };
}

/** A host of its own that lives until it is killed, and runs what it is told, one call after the other. */
export interface HostProcess {
  readonly pid: number;
  run(args: readonly string[]): Promise<Told>;
  /** One event of its own, as `hook`. */
  hook(on: string, payload: object): Promise<Told>;
  /** SIGKILL; settles when the process is gone. */
  kill(): Promise<void>;
}

const hostCode = `
const { spawnSync } = require("node:child_process");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { args, input } = JSON.parse(line);
  const done = spawnSync(process.execPath, args, { input, encoding: "utf8", maxBuffer: 1 << 26 });
  console.log(JSON.stringify({ code: done.status, stdout: done.stdout, stderr: done.stderr }));
});
console.log("ready");
`;

export async function startHost(plugin: Plugin, cwd: string, env: Environment = {}): Promise<HostProcess> {
  const child: ChildProcess = spawn(process.execPath, ["-e", hostCode], {
    cwd,
    env: cliEnvironment({ ...roomy, ...env }),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const gone = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  const kill = (): Promise<void> => {
    child.kill("SIGKILL");
    return gone;
  };
  onTestFinished(kill);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => {
    const next = await lines.next();
    if (next.done === true) throw new Error("the host process ended");
    return next.value as string;
  };
  await line();
  async function call(args: readonly string[], input: string): Promise<Told> {
    child.stdin?.write(`${JSON.stringify({ args, input })}\n`);
    const { code, stdout, stderr } = JSON.parse(await line()) as Record<string, string> & { code: number };
    return { code, json: parsed(stdout ?? ""), stderr: stderr ?? "" };
  }
  return {
    pid: child.pid as number,
    run: (args) => call([plugin.entry, ...args, "--json"], ""),
    hook: (on, payload) =>
      call(
        [plugin.entry, "hook", "--host", "claude", "--on", on],
        JSON.stringify({ cwd, hook_event_name: on, ...payload }),
      ),
    kill,
  };
}

function parsed(text: string): Answer {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A project folder that holds a copy of a recorded world. */
export function copyOf(world: string, project = tempFolder()): string {
  cpSync(join(worldsFolder, world, ".atlas"), join(project, ".atlas"), { recursive: true });
  return project;
}

/** Path below `folder` → kind and hash, links not followed. `skip`: names in any folder that are not looked into. */
export function fingerprint(folder: string, skip: readonly string[] = []): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (below: string): void => {
    for (const name of readdirSync(join(folder, below)).sort()) {
      if (skip.includes(name)) continue;
      const inside = below === "" ? name : `${below}/${name}`;
      const path = join(folder, inside);
      const stat = lstatSync(path);
      if (stat.isSymbolicLink()) found[inside] = `link ${readlinkSync(path)}`;
      else if (stat.isDirectory()) {
        found[inside] = "folder";
        walk(inside);
      } else if (stat.isFile()) found[inside] = `${stat.mode & 0o777} ${hashOf(readFileSync(path))}`;
      else found[inside] = "other";
    }
  };
  walk("");
  return found;
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Lines of one of our ledgers. */
export function ledgerLines(folder: string): readonly Answer[] {
  return readFileSync(join(folder, "log.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Answer);
}
