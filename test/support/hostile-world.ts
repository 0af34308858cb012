/** Small worlds for the real command line: a project, a home, and what somebody put into `.atlas`. */
import { spawn } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../scripts/platform/hash.ts";
import { type CliResult, cliEnvironment } from "./run-cli.ts";
import { tempFolder } from "./temp.ts";

export interface Place {
  /** Holds project and home. */
  readonly folder: string;
  readonly project: string;
  readonly atlas: string;
  readonly env: Readonly<Record<string, string>>;
}

export function makePlace(name?: string): Place {
  const folder = tempFolder(name);
  const [project, home] = [join(folder, "project"), join(folder, "home")];
  mkdirSync(project);
  mkdirSync(home);
  return { folder, project, atlas: join(project, ".atlas"), env: { HOME: home, XDG_STATE_HOME: join(home, "state") } };
}

export interface Said extends CliResult {
  readonly ms: number;
  /** stdout as the object every verb prints. */
  readonly told: Readonly<Record<string, unknown>> & {
    readonly refused?: { readonly code: string; readonly reason: string; readonly fix: string };
    readonly error?: { readonly code: string; readonly reason: string; readonly fix: string };
    readonly runs?: readonly { readonly id: string; readonly why: string; readonly resumable: boolean }[];
  };
}

export interface Calling {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Words put before node: another user, another name space, a limit. */
  readonly under?: readonly string[];
}

/** One call with `--json`; SIGKILL after ten seconds, so that a hang is a code of null. */
export function call(cli: string, place: Place, words: readonly string[], calling: Calling = {}): Promise<Said> {
  const [program = process.execPath, ...args] = [...(calling.under ?? []), process.execPath, cli, ...words, "--json"];
  const begun = performance.now();
  const child = spawn(program, args, {
    cwd: calling.cwd ?? place.project,
    env: cliEnvironment({ ...place.env, ...calling.env }),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 10_000,
    killSignal: "SIGKILL",
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const stdout = Buffer.concat(out).toString("utf8");
      let json: unknown;
      try {
        json = JSON.parse(stdout);
      } catch {
        json = undefined;
      }
      const told = (typeof json === "object" && json !== null ? json : {}) as Said["told"];
      const stderr = Buffer.concat(err).toString("utf8");
      resolve({ code, signal, stdout, stderr, json, told, ms: performance.now() - begun });
    });
  });
}

/** Everything below a folder as one text a line: kind, size and hash, so that any change shows. */
export function picture(folder: string, at = ""): readonly string[] {
  return readdirSync(join(folder, at))
    .sort()
    .flatMap((name) => {
      const path = join(at, name);
      const full = join(folder, path);
      const stat = lstatSync(full);
      if (stat.isSymbolicLink()) return [`${path} -> ${readlinkSync(full)}`];
      if (stat.isDirectory()) return [`${path}/`, ...picture(folder, path)];
      if (!stat.isFile()) return [`${path} special`];
      return [`${path} ${stat.size} ${stat.size > 1_000_000 ? "large" : sha256(readFileSync(full))}`];
    });
}

/** A user who may read nothing that is not his: words for `under`. Null where tests run as one already. */
export const unprivileged = 65_534;

export function asUnprivileged(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  return ["setpriv", `--reuid=${unprivileged}`, `--regid=${unprivileged}`, "--clear-groups"];
}

/** Gives a place, and what lies in it now, to the unprivileged user. */
export function giveAway(place: Place): void {
  chmodSync(place.folder, 0o755);
  if (process.getuid?.() !== 0) return;
  const give = (path: string): void => {
    chownSync(path, unprivileged, unprivileged);
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name));
  };
  give(place.folder);
}
