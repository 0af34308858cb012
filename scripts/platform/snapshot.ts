/**
 * Snapshots of working trees in a private repository `<run>/git`: raw bytes, nothing of the target runs, and it
 * works outside git and on an unborn branch.
 *
 * What a failure leaves behind: loose objects nobody names, and a `taking-…` index that the next opening removes.
 * A tree id is told only after its objects and their folders are synced. Objects of the project's HEAD are borrowed
 * from its store (alternates); the rest is here (`borrowed.ts`).
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { EnvironmentFailure } from "../core/result.ts";
import { sealTree } from "./borrowed.ts";
import { entryKind, errno, failure, listFolder, makeFolder, readBounded, removeQuietly, replaceFile } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { type Git, type GitDone, type GitOptions, lineOrNull, must } from "./git.ts";
import { sha256 } from "./hash.ts";
import { distrust, type RawPlace, rawTree, type Snapshot } from "./raw-tree.ts";
import { objectFormat } from "./repository.ts";
import { youngEntries } from "./young-entries.ts";

/** `!diff` and not `-diff`: a driver is unset, and a patch of text stays readable. */
export const rawAttributes = "* -text -filter -ident -working-tree-encoding !diff !merge\n";

/** An entry takes about a hundred bytes. */
const cacheBytesMax = 512 * 1024 * 1024;

export interface TakeOptions {
  /** Names in the root that are never taken; default `.atlas`. */
  readonly except?: readonly string[];
}

export interface Snapshots {
  readonly gitDir: string;
  /** The tree id of what lies in `workTree` (a working tree's root). Renewing costs one lstat a file. */
  take(workTree: string, options?: TakeOptions): Snapshot;
  /** As `take`, into another object store and without the stat cache. Its folders are not synced: the commit's are. */
  takeInto(objects: string, workTree: string, options?: TakeOptions): Snapshot;
  /** Writes the tree's files byte-exactly into `folder`; other files there stay. Not synced. */
  materialise(tree: string, folder: string): void;
  /** As `materialise`, of the paths in `paths` (each ended by NUL) alone. */
  writeOut(tree: string, folder: string, paths: Buffer): void;
  /** The tree of a commit or tree id; null for anything this repository cannot see. */
  treeOf(commitOrTree: string): string | null;
  /** A git call on this repository, with no working tree; `indexName` names a private index that is removed afterwards. */
  run(args: readonly string[], options?: Partial<GitOptions>): GitDone;
  /** Runs `use` with an empty index of its own. */
  withIndex<T>(use: (env: Readonly<Record<string, string>>) => T): T;
  /** Facts for raw listings of a tree. */
  place(workTree: string, indexFile: string, options?: TakeOptions): RawPlace;
}

export function isObjectId(text: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Opens `<runDir>/git`, made or mended if need be. `commonDir` is the project's, null outside git. */
export function openSnapshots(git: Git, fs: FileSystem, runDir: string, commonDir: string | null): Snapshots {
  const gitDir = join(runDir, "git");
  prepare(git, fs, gitDir, commonDir);
  sweep(fs, gitDir);
  const bare = { GIT_DIR: gitDir };

  function projectExcludesFile(): string | null {
    if (commonDir === null) return null;
    const args = ["config", "--type=path", "--get", "core.excludesFile"];
    return lineOrNull(git, args, { cwd: commonDir, env: { GIT_DIR: commonDir } });
  }

  function place(workTree: string, indexFile: string, options: TakeOptions = {}): RawPlace {
    const excludeFile = commonDir === null ? null : join(commonDir, "info", "exclude");
    return {
      gitDir,
      workTree,
      indexFile,
      objects: null,
      ignores: {
        excludeFile: excludeFile !== null && entryKind(fs, excludeFile) === "file" ? excludeFile : null,
        excludesFile: projectExcludesFile(),
      },
      except: options.except ?? [".atlas"],
      tracked: commonDir !== null,
    };
  }

  function withIndexFile<T>(use: (file: string) => T): T {
    const file = join(gitDir, `taking-${process.pid}-${randomBytes(4).toString("hex")}`);
    try {
      return use(file);
    } finally {
      for (const end of ["", ".lock", ".sparse", ".sparse.lock"]) removeQuietly(fs, file + end);
    }
  }

  return {
    gitDir,
    place,
    take(workTree, options) {
      const cache = join(gitDir, `index-${sha256(workTree).slice(0, 16)}`);
      const taken = (): Snapshot =>
        withIndexFile((file) => {
          // Claimed by renaming, which keeps its time: git compares that time to tell a file changed in the same instant.
          moveIfThere(fs, cache, file);
          // A second less: the kernel stamps files with a clock that may lag behind ours.
          const sinceS = Math.floor(Date.now() / 1000) - 1;
          const at = place(workTree, file, options);
          const snapshot = rawTree(git, at);
          const read = readBounded(fs, file, cacheBytesMax);
          const young = read.kind === "file" ? youngEntries(read.bytes, sinceS, snapshot.tree.length / 2) : null;
          // Without an answer nothing is cached, and the next taking reads every file.
          if (young !== null) {
            distrust(git, at, young);
            moveIfThere(fs, file, cache);
          }
          return snapshot;
        });
      const snapshot = coldOnFailure(taken);
      sealTree(git, fs, gitDir, commonDir, snapshot.tree);
      return snapshot;
    },
    takeInto(objects, workTree, options) {
      return withIndexFile((file) => {
        const snapshot = rawTree(git, { ...place(workTree, file, options), objects });
        return snapshot;
      });
    },
    materialise(tree, folder) {
      withIndexFile((file) => {
        const on = { cwd: folder, env: { GIT_DIR: gitDir, GIT_WORK_TREE: folder, GIT_INDEX_FILE: file } };
        must(git, ["-c", "core.sparseCheckout=false", "read-tree", tree], on);
        must(git, ["checkout-index", "--all", "--force", "--quiet"], on);
      });
    },
    writeOut(tree, folder, paths) {
      withIndexFile((file) => {
        const on = { cwd: folder, env: { GIT_DIR: gitDir, GIT_WORK_TREE: folder, GIT_INDEX_FILE: file } };
        must(git, ["-c", "core.sparseCheckout=false", "read-tree", tree], on);
        must(git, ["checkout-index", "-z", "--stdin", "--force", "--quiet"], { ...on, input: paths });
      });
    },
    treeOf(commitOrTree) {
      if (!isObjectId(commitOrTree)) return null;
      return lineOrNull(git, ["rev-parse", "--verify", "--quiet", `${commitOrTree}^{tree}`], {
        cwd: gitDir,
        env: bare,
      });
    },
    run(args, options = {}) {
      return git.run(args, { cwd: gitDir, ...options, env: { ...bare, ...options.env } });
    },
    withIndex(use) {
      return withIndexFile((file) => use({ GIT_DIR: gitDir, GIT_WORK_TREE: gitDir, GIT_INDEX_FILE: file }));
    },
  };
}

/** A cache that a power loss tore, or whose borrowed objects were pruned, went with the first try: the second reads all. */
function coldOnFailure<T>(take: () => T): T {
  try {
    return take();
  } catch (error) {
    if (!(error instanceof EnvironmentFailure) || error.code !== "git.failed") throw error;
    return take();
  }
}

/** Each step looks first, so an opening that was killed is continued by the next one. */
function prepare(git: Git, fs: FileSystem, gitDir: string, commonDir: string | null): void {
  makeFolder(fs, gitDir);
  const whole = ["HEAD", "config"].every((name) => entryKind(fs, join(gitDir, name)) === "file");
  if (!whole || entryKind(fs, join(gitDir, "refs")) !== "folder") {
    const format = commonDir === null ? "sha1" : objectFormat(git, commonDir);
    const args = [
      "-c",
      "init.defaultBranch=main",
      "init",
      "--quiet",
      "--bare",
      "--template=",
      `--object-format=${format}`,
    ];
    // A config torn by a power loss stops `init`; git rewrites it from nothing.
    removeQuietly(fs, join(gitDir, "config"));
    removeQuietly(fs, join(gitDir, "config.lock"));
    must(git, [...args, gitDir], { cwd: gitDir });
  }
  for (const name of ["info", "objects", "objects/info"]) makeFolder(fs, join(gitDir, name));
  keepContent(fs, join(gitDir, "info", "attributes"), rawAttributes);
  if (commonDir !== null) {
    keepContent(fs, join(gitDir, "objects", "info", "alternates"), `${quoted(join(commonDir, "objects"))}\n`);
  }
}

function keepContent(fs: FileSystem, path: string, content: string): void {
  const read = readBounded(fs, path, 64 * 1024);
  if (read.kind === "file" && read.bytes.equals(Buffer.from(content, "utf8"))) return;
  if (read.kind === "bad" && read.why !== "a link" && read.why !== "too large") {
    throw new EnvironmentFailure("disk.other", `${path} is ${read.why}`, "atlas doctor");
  }
  replaceFile(fs, path, content, true);
}

/** Removes indexes of takers that are gone. */
function sweep(fs: FileSystem, gitDir: string): void {
  for (const name of listFolder(fs, gitDir)) {
    const pid = /^taking-(\d{1,10})-/.exec(name)?.[1];
    if (pid !== undefined && Number(pid) !== process.pid && !exists(Number(pid))) removeQuietly(fs, join(gitDir, name));
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errno(error) !== "ESRCH";
  }
}

function moveIfThere(fs: FileSystem, from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (errno(error) !== "ENOENT") throw failure(error, from);
  }
}

/** Git reads an alternate that begins with `"` as a C string; so a newline in a path is one. */
function quoted(path: string): string {
  const escaped = path.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t");
  return `"${escaped}"`;
}
