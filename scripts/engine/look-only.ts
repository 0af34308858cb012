/**
 * Doors that let looking through and nothing else: what a dry run or a diagnosis is given, so that it cannot change
 * what it looks at. A change that is tried anyway is thrown before it happens.
 *
 * What a failure leaves behind: a folder `atlas-look-…` among the system's temporary files, which `clean` removes.
 */
import { constants, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EnvironmentFailure } from "../core/result.ts";
import type { FileSystem } from "../platform/fs.ts";
import type { Git } from "../platform/git.ts";
import { sha256 } from "../platform/hash.ts";
import { openSnapshots, type Snapshots } from "../platform/snapshot.ts";

/** Thrown in place of a change; an environment failure, because those pass through every leaf unchanged. */
export class Untouched extends EnvironmentFailure {
  constructor() {
    super("look.only", "looking changes nothing", "atlas doctor");
    this.name = "Untouched";
  }
}

/** The process a place to look in is named for; null for any other name. */
export function lookingPid(name: string): number | null {
  const pid = /^atlas-look-(\d{1,10})-[A-Za-z0-9]+$/.exec(name)?.[1];
  return pid === undefined ? null : Number(pid);
}

const writing = constants.O_WRONLY | constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_APPEND;

function untouched(): never {
  throw new Untouched();
}

/** The same files, read only. */
export function readOnly(fs: FileSystem): FileSystem {
  return {
    ...fs,
    openSync: (path, flags, mode) => ((flags & writing) === 0 ? fs.openSync(path, flags, mode) : untouched()),
    writeSync: untouched,
    ftruncateSync: untouched,
    mkdirSync: untouched,
    renameSync: untouched,
    unlinkSync: untouched,
    rmdirSync: untouched,
    linkSync: untouched,
  };
}

/** A git for looking at the trees of one repository, as if the refs in `gone` were gone already. */
export interface Looking {
  readonly git: Git;
  /** In a temporary folder: no byte of a run's own store is touched. */
  readonly snapshots: Snapshots;
}

export interface LookingPlace {
  at(commonDir: string, gone: ReadonlySet<string>): Looking;
  close(): void;
}

/** Objects that looking makes (the tree of an index, a commit to compare with) go to a temporary store. */
export function openLooking(git: Git, fs: FileSystem): LookingPlace {
  let folder: string | null = null;
  const opened = new Map<string, Snapshots>();
  return {
    at(commonDir, gone) {
      folder ??= realpathSync(mkdtempSync(join(tmpdir(), `atlas-look-${process.pid}-`)));
      const home = join(folder, sha256(commonDir).slice(0, 16));
      let snapshots = opened.get(commonDir);
      if (snapshots === undefined) {
        snapshots = openSnapshots(git, fs, home, commonDir);
        opened.set(commonDir, snapshots);
      }
      return { git: lookingGit(git, commonDir, join(snapshots.gitDir, "objects"), gone), snapshots };
    },
    close() {
      if (folder !== null) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
      folder = null;
    },
  };
}

function lookingGit(git: Git, commonDir: string, objects: string, gone: ReadonlySet<string>): Git {
  const aside = { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(join(commonDir, "objects")) };
  return {
    run(args, options) {
      if (args[0] === "worktree" || args[0] === "update-ref") return untouched();
      const project = options.env?.GIT_DIR === commonDir;
      const done = git.run(isReaching(args) ? args.filter((word) => word !== "--count=1") : args, {
        ...options,
        ...(project ? { env: { ...options.env, ...aside } } : {}),
      });
      if (!isReaching(args)) return done;
      const standing = done.stdout
        .toString("utf8")
        .split("\n")
        .filter((ref) => ref !== "" && !gone.has(ref));
      return { ...done, stdout: Buffer.from(standing.map((ref) => `${ref}\n`).join(""), "utf8") };
    },
  };
}

function isReaching(args: readonly string[]): boolean {
  return args[0] === "for-each-ref" && args.includes("--contains");
}

/** Git reads an entry that begins with `"` as a C string; so a colon or a newline in a path is one. */
function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n")}"`;
}
