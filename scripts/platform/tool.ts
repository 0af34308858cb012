/**
 * Programs of the machine that look at copies of files: found outside the tree they judge, run with an environment made
 * from scratch, bounded in time and output, and gone with all they started when the call returns.
 *
 * What a failure leaves behind: a killed owner leaves the copies in the system's temp folder, and the program to its own
 * end there; nothing of either is in a tree.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { memberFinder } from "./command-members.ts";
import { makeFolder, writeNew } from "./files.ts";
import { findTool, isWithin, pathFolders } from "./find-tool.ts";
import type { FileSystem } from "./fs.ts";
import { nonceVariable } from "./performer-job.ts";
import { removeFolderTree } from "./remove-folder.ts";
import { realPath } from "./repository.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** How a program ended. `output` of both kinds is untrusted. */
export type ToolDone =
  | { readonly is: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly is: "unstarted" | "timed-out" | "too-much" | "signalled" };

export interface ToolCall {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

export interface Copy {
  /** Relative, of letters the caller chose. */
  readonly name: string;
  readonly text: string;
}

/** Looks in a row that find nobody before a program counts as gone; a child can be born during a look. */
const looksMax = 50;

/** The first of `names` on PATH that is a program outside every one of `trees`; null: none is installed. */
export function findFirstTool(
  fs: FileSystem,
  names: readonly string[],
  environment: Environment,
  trees: readonly string[],
): string | null {
  const folders = pathFolders(fs, environment.PATH, trees);
  for (const name of names) {
    const path = findTool(fs, folders, name, trees);
    if (path !== null) return path;
  }
  return null;
}

/** What a program sees of ours: where programs are, whose home it is, and nothing else. No folder of `trees` is on PATH. */
export function toolEnvironment(
  fs: FileSystem,
  environment: Environment,
  trees: readonly string[],
): Record<string, string> {
  const folders = pathFolders(fs, environment.PATH, trees);
  const made: Record<string, string> = { PATH: folders.join(delimiter), LC_ALL: "C.UTF-8", NO_COLOR: "1" };
  for (const name of ["HOME", "USERPROFILE", "SystemRoot"]) {
    const value = environment[name];
    if (value !== undefined) made[name] = value;
  }
  return made;
}

/** Runs it with an empty stdin. Never throws; what it started is ended, in its group or out of it. */
export function runTool(path: string, call: ToolCall): ToolDone {
  const nonce = `atlas-${randomBytes(16).toString("hex")}`;
  const done = spawnSync(path, call.args, {
    cwd: call.cwd,
    env: { ...call.environment, [nonceVariable]: nonce },
    input: "",
    timeout: call.timeoutMs,
    killSignal: "SIGKILL",
    maxBuffer: call.bytesMax,
    windowsHide: true,
  });
  endMarked(nonce);
  const code = (done.error as NodeJS.ErrnoException | undefined)?.code;
  if (code === "ETIMEDOUT") return { is: "timed-out" };
  if (code === "ENOBUFS") return { is: "too-much" };
  if (code !== undefined && code !== "EPIPE") return { is: "unstarted" };
  if (done.status === null) return { is: "signalled" };
  return {
    is: "exited",
    code: done.status,
    stdout: done.stdout.toString("utf8"),
    stderr: done.stderr.toString("utf8"),
  };
}

/**
 * Writes the copies into a new folder outside every one of `trees`, lets `use` work there, and removes it again. Null:
 * the system's temp folder lies in one of them.
 */
export function withCopies<T>(
  fs: FileSystem,
  copies: readonly Copy[],
  trees: readonly string[],
  use: (folder: string) => T,
): T | null {
  const temp = realPath(fs, tmpdir());
  const closed = trees.map((tree) => realPath(fs, tree));
  if (isWithin(temp, closed)) return null;
  const folder = join(temp, `atlas-lens-${randomBytes(8).toString("hex")}`);
  fs.mkdirSync(folder, 0o700);
  try {
    for (const { name, text } of copies) {
      const path = join(folder, name);
      makeFolder(fs, dirname(path));
      writeNew(fs, path, text, false);
    }
    return use(folder);
  } finally {
    removeFolderTree(folder);
  }
}

function endMarked(nonce: string): void {
  const find = memberFinder({ group: null, nonce }, false);
  for (let look = 0, empty = 0; look < looksMax && empty < 2; look += 1) {
    const rows = find();
    empty = rows.length === 0 ? empty + 1 : 0;
    for (const { pid } of rows) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    }
  }
}
