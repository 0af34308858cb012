/**
 * A machine in memory: a disk that can lose its power, processes that are gone after it, a git of that disk, and a
 * person who does what is printed. The verbs, the engine and the hooks are the shipped ones.
 */
import { dirname } from "node:path";
import type { EpochMs } from "../../scripts/core/ids.ts";
import type { ProcessIdentity } from "../../scripts/core/owner.ts";
import type { Engine } from "../../scripts/engine/context.ts";
import { claude } from "../../scripts/hosts/claude.ts";
import { react } from "../../scripts/hosts/react.ts";
import { syncFolder, writeNew } from "../../scripts/platform/files.ts";
import type { FileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import type { Processes } from "../../scripts/platform/processes.ts";
import { abandon } from "../../scripts/verbs/abandon.ts";
import { answer } from "../../scripts/verbs/answer.ts";
import { readArguments } from "../../scripts/verbs/arguments.ts";
import { clean } from "../../scripts/verbs/clean.ts";
import { forkVerb } from "../../scripts/verbs/fork.ts";
import { next } from "../../scripts/verbs/next.ts";
import type { Outcome } from "../../scripts/verbs/outcome.ts";
import { resumeVerb } from "../../scripts/verbs/resume.ts";
import { rollback } from "../../scripts/verbs/rollback.ts";
import { startVerb } from "../../scripts/verbs/start.ts";
import { submit } from "../../scripts/verbs/submit.ts";
import { verify } from "../../scripts/verbs/verify.ts";
import { type MemoryDisk, memoryDisk } from "../support/memory-disk.ts";
import { fakeGit } from "./fake-git.ts";
import { makeFolders } from "./git-store.ts";

export const project = "/project";
const home = "/home/dev";

type Verb = (engine: Engine, given: ReturnType<typeof readArguments>) => Promise<Outcome> | Outcome;
const verbs: Readonly<Record<string, Verb>> = {
  abandon,
  answer,
  clean,
  fork: forkVerb,
  next,
  resume: resumeVerb,
  rollback,
  start: startVerb,
  submit,
  verify,
};

/** One host process of one boot. A later one of the same boot finds an earlier one gone. */
export interface Sitting {
  readonly boot: number;
  readonly host: number;
  /** Tells the random numbers of two machines apart that are else the same. */
  readonly seed?: string;
}

export interface Machine {
  readonly disk: MemoryDisk;
  readonly fs: FileSystem;
  /** `atlas <words>`; throws what the verb throws. */
  run(...words: readonly string[]): Promise<Outcome>;
  /** An event of Claude Code, in this session. */
  hook(on: string, payload: Readonly<Record<string, unknown>>): void;
  readonly engine: (verb?: string) => Engine;
}

/** `fs`: what the product writes through, where that is not the disk itself. */
export function machine(disk: MemoryDisk, sitting: Sitting, fs: FileSystem = disk.fs): Machine {
  let freshes = 0;
  let commands = 0;
  const pid = 4000 + sitting.host;
  const start = `${sitting.boot}.${sitting.host}`;
  const place: ProcessIdentity = {
    machine: "machine",
    boot: `boot-${sitting.boot}`,
    namespace: "pid",
    uid: process.getuid?.() ?? 0,
    pid: null,
    start: null,
  };
  const facts = { parent: 1, dead: false, argv: [] };
  const processes: Processes = {
    place,
    look(asked) {
      if (asked === pid) return { ...facts, pid, start, name: "claude" };
      // We: another process for each command, so that what a failed one began is not taken for ours.
      const own = {
        ...facts,
        pid: asked,
        parent: pid,
        start: `${start}.own${commands}${sitting.seed ?? ""}`,
        name: "node",
      };
      return asked === process.pid ? own : null;
    },
  };
  const environment = { HOME: home, CLAUDE_PID: String(pid) };
  const session = `00000000-0000-4000-8000-${String(sitting.boot * 100 + sitting.host).padStart(12, "0")}`;
  const engine = (verb = "test"): Engine => ({
    fs,
    git: fakeGit(disk.fs),
    processes,
    environment,
    cwd: project,
    moment: {
      now: Date.UTC(2026, 10, 30, 19, sitting.boot, sitting.host) as EpochMs,
      fresh: () => {
        freshes += 1;
        return sha256(`${start} ${sitting.seed ?? ""} ${freshes}`).slice(0, 8);
      },
    },
    verb,
    self: { ...place, pid, start, host: "claude", session },
    exclusive: false,
    pluginRoot: "/plugin",
  });
  return {
    disk,
    fs,
    engine,
    async run(...words) {
      commands += 1;
      const given = readArguments(words);
      return await (verbs[given.verb] as Verb)(engine(given.verb), given);
    },
    hook(on, payload) {
      const event = claude.read(on, payload);
      if (event === null) throw new Error(`no event ${on}`);
      const around = { fs, processes, env: environment, pid: process.pid };
      react(around, { host: claude, session, cwd: project, event, pluginRoot: "/plugin" });
    },
  };
}

export const sourceFile = "src/add.js";
const rightSum = "module.exports = (a, b) => a + b;\n";

/** A project as it lies there before anybody calls atlas: all of it durable. */
export function freshDisk(git: boolean): MemoryDisk {
  const disk = memoryDisk();
  for (const folder of [`${project}/src`, home, "/plugin"]) makeFolders(disk.fs, folder);
  writeNew(disk.fs, `${project}/${sourceFile}`, "module.exports = (a, b) => a - b;\n", false);
  writeNew(disk.fs, `${project}/check.js`, "process.exit(0);\n", false);
  if (git) {
    const env = { GIT_DIR: `${project}/.git` };
    const call = (args: readonly string[], input = "", more = {}): string =>
      fakeGit(disk.fs)
        .run(args, { cwd: project, env: { ...env, ...more }, input })
        .stdout.toString()
        .trim();
    makeFolders(disk.fs, env.GIT_DIR);
    call(["init", env.GIT_DIR]);
    call(["update-index", "--add", "--stdin"], `${sourceFile}\0check.js\0`, { GIT_WORK_TREE: project });
    const commit = call(["commit-tree", call(["write-tree"])], "begin\n", { GIT_AUTHOR_DATE: "2000" });
    call(["update-ref", "refs/heads/main", commit]);
  }
  return settled(disk);
}

/** The same disk with all of it durable. */
export function settled(disk: MemoryDisk): MemoryDisk {
  const copy = disk.copy();
  for (const [path, bytes] of copy.content()) {
    if (bytes === null) syncFolder(copy.fs, path === "" ? "/" : path);
    else {
      const fd = copy.fs.openSync(path, 0);
      copy.fs.fsyncSync(fd);
      copy.fs.closeSync(fd);
    }
  }
  return copy;
}

/** A person's, an agent's or an editor's own file: nothing of it is promised to last. */
export function lay(disk: MemoryDisk, path: string, text: string): void {
  makeFolders(disk.fs, dirname(path));
  if (disk.text(path) !== null) disk.fs.unlinkSync(path);
  writeNew(disk.fs, path, text, false);
}

export const mended = (root: string) => ({ path: `${root}/${sourceFile}`, text: rightSum });
