/**
 * The one door to git: argv arrays, a scrubbed environment, a time limit, and nothing of the repository runs.
 *
 * What a failure leaves behind: git may have been killed between two of its own steps. Every caller uses an index
 * of its own and probes before it repeats, so that a leftover costs a repetition and nothing else.
 *
 * Clean and smudge filters are not switched off here, because git has no switch for all of them: callers that read
 * or write files use a snapshot repository (`snapshot.ts`) or `filtersOff` (`repository.ts`).
 */
import { spawnSync } from "node:child_process";
import { devNull } from "node:os";
import { EnvironmentFailure } from "../core/result.ts";

export interface GitOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array | string;
  /** Default 60,000. */
  readonly timeoutMs?: number;
  /** Most bytes of stdout; default 256 MiB. More is `git.too_large`. */
  readonly bytesMax?: number;
}

export interface GitDone {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Git {
  /** Runs git to its end. Throws EnvironmentFailure `git.missing`, `git.timeout`, `git.too_large`, `git.failed` (killed). */
  run(args: readonly string[], options: GitOptions): GitDone;
}

export type GitVersion = readonly [major: number, minor: number, patch: number];

export const gitVersionMin: GitVersion = [2, 31, 0];
const timeoutMsDefault = 60_000;
const bytesMaxDefault = 256 * 1024 * 1024;

/** The git on PATH. `environment` is the process's; every `GIT_*` of it is dropped but GIT_CONFIG_NOSYSTEM. */
export function systemGit(environment: Readonly<Record<string, string | undefined>>): Git {
  const base = scrubbed(environment);
  let switches: readonly string[] | null = null;
  return {
    run(args, options) {
      switches ??= switchesFor(parseVersion(spawn(["--version"], base, { cwd: "" }).stdout.toString("utf8")));
      // `-C` and not the child's cwd: a missing folder must not look like a missing git (both are ENOENT).
      return spawn([...switches, "-C", options.cwd, ...args], { ...base, ...options.env }, options);
    },
  };
}

/** stdout of a call that must succeed; else EnvironmentFailure `git.failed` with the first line of stderr. */
export function must(git: Git, args: readonly string[], options: GitOptions): Buffer {
  const done = git.run(args, options);
  if (done.code === 0) return done.stdout;
  throw gitFailure(args, done);
}

/** As `must`; the output as text without its last newline. */
export function mustLine(git: Git, args: readonly string[], options: GitOptions): string {
  return oneLine(must(git, args, options));
}

/** The output without its last newline; null where the call failed. */
export function lineOrNull(git: Git, args: readonly string[], options: GitOptions): string | null {
  const done = git.run(args, options);
  return done.code === 0 ? oneLine(done.stdout) : null;
}

export function gitFailure(args: readonly string[], done: GitDone): EnvironmentFailure {
  const first = done.stderr.split("\n").find((line) => line.trim() !== "") ?? `exit ${done.code}`;
  return new EnvironmentFailure("git.failed", `git ${commandOf(args)}: ${printable(first)}`, "atlas doctor");
}

export function gitVersion(git: Git): GitVersion {
  return parseVersion(must(git, ["--version"], { cwd: "." }).toString("utf8"));
}

export function isOlder(version: GitVersion, than: GitVersion): boolean {
  for (const at of [0, 1, 2] as const) if (version[at] !== than[at]) return version[at] < than[at];
  return false;
}

/** `git version 2.39.5 (Apple Git-154)` → [2, 39, 5]; [0, 0, 0] for anything else. */
export function parseVersion(text: string): GitVersion {
  const match = /(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/.exec(text);
  return match === null ? [0, 0, 0] : [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

/** Measured on 2.39: each works, and none changes what our calls print. */
function switchesFor(version: GitVersion): readonly string[] {
  // The older name is still known later, but warns.
  const durable = isOlder(version, [2, 36, 0]) ? "core.fsyncObjectFiles=true" : "core.fsync=committed,reference";
  const settings = [
    `core.hooksPath=${devNull}`,
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.askPass=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    // Empty does not switch external diffs off: it makes them fail. So a diff that forgot --no-ext-diff runs nothing.
    "diff.external=",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
    durable,
    // A user who trades safety for speed does so for his own work; unknown to an older git, which ignores it.
    "core.fsyncMethod=fsync",
  ];
  return ["--no-pager", ...settings.flatMap((setting) => ["-c", setting])];
}

function scrubbed(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const upper = name.toUpperCase();
    if (value === undefined || (upper.startsWith("GIT_") && upper !== "GIT_CONFIG_NOSYSTEM")) continue;
    if (upper === "SSH_ASKPASS" || upper === "LANGUAGE" || upper.startsWith("LC_")) continue;
    kept[name] = value;
  }
  return {
    ...kept,
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_PAGER: "cat",
    GIT_EDITOR: ":",
    GIT_SEQUENCE_EDITOR: ":",
    GIT_ASKPASS: "",
    // Stronger than protocol.allow, which a repository can override for each protocol.
    GIT_ALLOW_PROTOCOL: "",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
}

function spawn(args: readonly string[], env: Record<string, string>, options: GitOptions): GitDone {
  const timeoutMs = options.timeoutMs ?? timeoutMsDefault;
  const done = spawnSync("git", args, {
    env,
    input: options.input ?? "",
    timeout: timeoutMs,
    // SIGTERM can be ignored, and then a spawnSync waits for ever.
    killSignal: "SIGKILL",
    maxBuffer: options.bytesMax ?? bytesMaxDefault,
    windowsHide: true,
  });
  const code = (done.error as NodeJS.ErrnoException | undefined)?.code;
  if (code === "ETIMEDOUT") {
    const reason = `git ${commandOf(args)} did not end within ${timeoutMs} ms`;
    throw new EnvironmentFailure("git.timeout", reason, "atlas resume");
  }
  if (code === "ENOBUFS") {
    throw new EnvironmentFailure("git.too_large", `git ${commandOf(args)} printed too much`, "atlas doctor");
  }
  // EPIPE: git ended before it had read all of its input; its exit code says why.
  if (code !== undefined && code !== "EPIPE") {
    throw new EnvironmentFailure("git.missing", `git cannot be started (${code})`, "install git 2.31 or newer");
  }
  if (done.status === null) {
    throw new EnvironmentFailure("git.failed", `git ${commandOf(args)} was ended by ${done.signal}`, "atlas resume");
  }
  return { code: done.status, stdout: done.stdout, stderr: done.stderr.toString("utf8") };
}

function commandOf(args: readonly string[]): string {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    if (word === "-c" || word === "-C") at += 1;
    else if (!word.startsWith("-")) return word;
  }
  return args[0] ?? "";
}

/** Stderr can repeat names a repository chose: no control characters, 300 letters. */
function printable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, "?").slice(0, 300);
}

function oneLine(output: Buffer): string {
  const text = output.toString("utf8");
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}
