/** A project, a home and settings for hosts, all in one temporary folder; nothing of the machine's own is seen. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { startHost } from "../../support/host-process.ts";
import { tempFolder } from "../../support/temp.ts";

export interface World {
  readonly root: string;
  readonly project: string;
  readonly plugin: string;
  readonly cli: string;
  /** What a host is started with, besides its own variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The words that open a headless run here, as a user would type them. */
  readonly start: readonly string[];
}

export function makeWorld(): World {
  const root = tempFolder("atlas-host-");
  const [project, home, temporary] = [join(root, "project"), join(root, "home"), join(root, "tmp")];
  for (const folder of [project, home, temporary]) mkdirSync(folder);
  const git = process.env.GIT_CONFIG_GLOBAL ?? "";
  // npm puts folders on PATH that a user's shell does not have.
  const path = (process.env.PATH ?? "").split(delimiter).filter((part) => !part.includes("node_modules"));
  const env = {
    PATH: path.join(delimiter),
    HOME: home,
    TMPDIR: temporary,
    XDG_STATE_HOME: join(home, ".local", "state"),
    GIT_CONFIG_GLOBAL: git,
    GIT_CONFIG_NOSYSTEM: "1",
    TZ: "UTC",
    LC_ALL: "C.UTF-8",
  };
  writeFileSync(join(project, "README.md"), "A project.\n");
  for (const words of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-qm", "Begin"],
  ]) {
    const done = spawnSync("git", words, { cwd: project, env, encoding: "utf8" });
    if (done.status !== 0) throw new Error(done.stderr);
  }
  const packet = join(root, "packet.json");
  writeFileSync(packet, JSON.stringify(request));
  const plugin = inject("plugin");
  const cli = join(plugin, "dist", "atlas.cjs");
  return { root, project, plugin, cli, env, start: ["start", "change", "--packet", packet, "--headless"] };
}

const request = {
  intent: "The greeting is missing: its file shall hold the line `hello`.",
  success_criteria: ["the greeting says hello"],
  scope_paths: ["greeting.txt"],
  verify_cmd: "grep -q hello greeting.txt",
};

/** Opens a run whose owner is gone. */
export async function leaveRunBehind(world: World): Promise<string> {
  const host = startHost();
  const call = { args: [world.cli, ...world.start, "--json"], cwd: world.project, env: { ...world.env }, input: "" };
  const done = await host.call(call);
  await host.kill();
  const opened = JSON.parse(done.stdout) as { readonly run: { readonly id: string } };
  return opened.run.id;
}

/** The one run of the project, as the files say it. */
export function onlyRun(world: World) {
  const atlas = join(world.project, ".atlas");
  const ids = readdirSync(atlas).filter((name) => !name.startsWith("."));
  if (ids.length !== 1) throw new Error(`runs here: ${ids.join(", ")}`);
  const id = ids[0] as string;
  const lines = readFileSync(join(atlas, id, "log.jsonl"), "utf8").split("\n");
  const events = lines.flatMap((line) => {
    if (line === "") return [];
    return (JSON.parse(line) as { readonly events: readonly LedgerEvent[] }).events;
  });
  const patch = join(atlas, id, "artifacts", "result.patch");
  return {
    id,
    events,
    isFinished: existsSync(join(atlas, ".finished", id)),
    patch: existsSync(patch) ? readFileSync(patch, "utf8") : "",
    leased: events.flatMap((event) => (event.type === "leased" ? [String(event.slot)] : [])),
    claims: events.flatMap((event) => (event.type === "claimed" ? [Number(event.epoch)] : [])),
  };
}

/** What our hooks have recorded of a session. */
export function sessionRecord(world: World, session: string): { readonly compactions: number } {
  const path = join(world.env.XDG_STATE_HOME ?? "", "atlas", "sessions", `${session}.json`);
  return JSON.parse(readFileSync(path, "utf8")) as { readonly compactions: number };
}

interface LedgerEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface HostProcess {
  readonly pid: number;
  /** Writes to its stdin. */
  readonly type: (text: string) => void;
  readonly closeInput: () => void;
  /** SIGKILL to this one process, as the system's own out-of-memory killer would. */
  readonly kill: () => Promise<void>;
  /** stdout so far. */
  readonly printed: () => string;
  /** Resolves when stdout holds it. */
  readonly until: (passes: (printed: string) => boolean, waitMs?: number) => Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

/** In a process group of its own, which is ended with the test. */
export function startProcess(
  words: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  hasInput = false,
): HostProcess {
  const [program = "", ...args] = words;
  const child = spawn(program, args, {
    cwd,
    env,
    detached: true,
    stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  const watching = new Set<() => void>();
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    for (const look of watching) look();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin?.on("error", () => {});
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
  ended.catch(() => {});
  onTestFinished(async () => {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {
      // It has ended, and everything it started.
    }
    await exited;
  });
  return {
    pid: child.pid as number,
    type: (text) => child.stdin?.write(text),
    closeInput: () => child.stdin?.end(),
    printed: () => stdout,
    ended,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    until: (passes, waitMs = 30_000) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`not printed within ${waitMs} ms: ${stdout}${stderr}`)),
          waitMs,
        );
        const look = (): void => {
          if (!passes(stdout)) return;
          clearTimeout(timer);
          watching.delete(look);
          resolve();
        };
        watching.add(look);
        look();
      }),
  };
}
