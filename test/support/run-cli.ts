/** Runs the built command line as a host would: another process, only the environment it is given. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const repositoryRoot = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const builtCli = join(repositoryRoot, "dist", "atlas.cjs");

export interface CliOptions {
  readonly cwd?: string;
  /** Added to the scrubbed environment; `undefined` takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Written to stdin, which is then closed. Without it stdin is empty. */
  readonly stdin?: string | Uint8Array;
  /** 30,000 by default; then SIGKILL. */
  readonly timeoutMs?: number;
}

export interface CliResult {
  /** null: ended by a signal. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout as JSON; undefined when it is not exactly one JSON value. */
  readonly json: unknown;
}

const outputBytesMax = 64 * 1024 * 1024;
const passed = /^(PATH|HOME|TMPDIR|TZ|LC_ALL|XDG_\w+|GIT_CONFIG_\w+|ATLAS_FREE_MB)$/;

/** The environment of a child: the scrubbed one of the test, cut down to what a program needs. */
export function cliEnvironment(added: CliOptions["env"] = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => passed.test(name));
  const all: Record<string, string | undefined> = { ...Object.fromEntries(kept), ...added };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

export function runCli(args: readonly string[], options: CliOptions = {}): CliResult {
  const child = spawnSync(process.execPath, [builtCli, ...args], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: cliEnvironment(options.env),
    input: options.stdin ?? "",
    timeout: options.timeoutMs ?? 30_000,
    killSignal: "SIGKILL",
    maxBuffer: outputBytesMax,
  });
  return result(child.status, child.signal, child.stdout.toString("utf8"), child.stderr.toString("utf8"));
}

/** The same without waiting: for races and kills. `done` settles when the process and its pipes have ended. */
export function startCli(
  args: readonly string[],
  options: CliOptions = {},
): { readonly child: ChildProcess; readonly done: Promise<CliResult> } {
  const child = spawn(process.execPath, [builtCli, ...args], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: cliEnvironment(options.env),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  // A child that never reads its stdin may be gone before it is written.
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin ?? "");
  const deadline = setTimeout(() => child.kill("SIGKILL"), options.timeoutMs ?? 30_000);
  const done = new Promise<CliResult>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(deadline);
      resolve(result(code, signal, Buffer.concat(out).toString("utf8"), Buffer.concat(err).toString("utf8")));
    });
  });
  return { child, done };
}

function result(code: number | null, signal: NodeJS.Signals | null, stdout: string, stderr: string): CliResult {
  let json: unknown;
  try {
    json = JSON.parse(stdout);
  } catch {
    json = undefined;
  }
  return { code, signal, stdout, stderr, json };
}
