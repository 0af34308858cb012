/** What git says about a place: which repository, which tree, which HEAD. Reads only. */
import { basename, dirname } from "node:path";
import type { FileSystem } from "./fs.ts";
import { type Git, gitFailure, lineOrNull, must, mustLine } from "./git.ts";
import { zeroRecords } from "./git-paths.ts";

export interface Repository {
  /** Root of the working tree the place lies in; null in a bare repository or inside a git folder. */
  readonly topLevel: string | null;
  /** What all working trees share, absolute. */
  readonly commonDir: string;
  /** This working tree's own git folder; equal to `commonDir` in the main working tree. */
  readonly gitDir: string;
  readonly bare: boolean;
  readonly shallow: boolean;
  /** HEAD names a branch without a commit. */
  readonly unborn: boolean;
  /** The commit HEAD names. */
  readonly head: string | null;
}

/**
 * The repository `cwd` lies in, all paths absolute; null where there is none.
 * Throws EnvironmentFailure `git.failed` where there is one that git will not read (other owner, damaged).
 */
export function repositoryAt(git: Git, cwd: string): Repository | null {
  // One question a call: a path may hold a newline, so answers cannot share an output.
  const ask = (...args: string[]) => ["rev-parse", "--path-format=absolute", ...args];
  const found = git.run(ask("--git-common-dir"), { cwd });
  if (found.code !== 0) {
    if (/not a git repository/i.test(found.stderr)) return null;
    throw gitFailure(ask(), found);
  }
  const commonDir = found.stdout.toString("utf8").replace(/\n$/, "");
  const gitDir = mustLine(git, ask("--git-dir"), { cwd });
  const facts = mustLine(git, ask("--is-bare-repository", "--is-inside-work-tree", "--is-shallow-repository"), { cwd });
  const [bare, inside, shallow] = facts.split("\n").map((word) => word === "true");
  const head = lineOrNull(git, ask("--verify", "--quiet", "HEAD^{commit}"), { cwd });
  return {
    topLevel: inside === true ? mustLine(git, ask("--show-toplevel"), { cwd }) : null,
    commonDir,
    gitDir,
    bare: bare === true,
    shallow: shallow === true,
    unborn: head === null,
    head,
  };
}

/** Names of the filters any configuration defines (`git lfs` is one: `lfs`). */
export function filterNames(git: Git, cwd: string): readonly string[] {
  const keys = ["config", "--null", "--name-only", "--get-regexp", "^filter\\..*\\.(clean|smudge|process|required)$"];
  const done = git.run(keys, { cwd });
  if (done.code === 1) return [];
  if (done.code !== 0) throw gitFailure(keys, done);
  const names = zeroRecords(done.stdout).map((key) => key.slice("filter.".length, key.lastIndexOf(".")));
  return [...new Set(names)].sort();
}

/** Environment that switches these filters off. As variables, because a name may hold the `=` that ends a `-c` key. */
export function filtersOff(names: readonly string[]): Readonly<Record<string, string>> {
  const settings = names.flatMap((name) => [
    [`filter.${name}.clean`, ""],
    [`filter.${name}.smudge`, ""],
    [`filter.${name}.process`, ""],
    [`filter.${name}.required`, "false"],
  ]);
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [at, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${at}`] = key ?? "";
    env[`GIT_CONFIG_VALUE_${at}`] = value ?? "";
  }
  return env;
}

/** Whether `path` (absolute), or anything below it, is in the index of the tree it lies in. */
export function isTrackedByGit(git: Git, repository: Repository, path: string): boolean {
  if (repository.topLevel === null) return false;
  const args = ["--literal-pathspecs", "ls-files", "-z", "--cached", "--", basename(path)];
  const done = git.run(args, { cwd: dirname(path), bytesMax: 64 * 1024 * 1024 });
  if (done.code !== 0) throw gitFailure(args, done);
  return done.stdout.length > 0;
}

/** `path` with links resolved; the path itself where it does not exist. */
export function realPath(fs: FileSystem, path: string): string {
  try {
    return fs.realpathSync(path);
  } catch {
    return path;
  }
}

/** `sha1` or `sha256`. */
export function objectFormat(git: Git, commonDir: string): string {
  return mustLine(git, ["rev-parse", "--show-object-format"], { cwd: commonDir, env: { GIT_DIR: commonDir } });
}

/** The empty tree, written, so that commits and worktrees can stand on it. */
export function writeEmptyTree(git: Git, commonDir: string): string {
  return must(git, ["mktree"], { cwd: commonDir, env: { GIT_DIR: commonDir } })
    .toString("utf8")
    .trim();
}
