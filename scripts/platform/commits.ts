/**
 * Commits of our own in the project's object store: fixed author and date, never signed, so the same tree and
 * parents give the same id, and doing it twice is doing it once. Synced, with their folders, before they are told.
 */
import { join } from "node:path";
import { syncObjects } from "./borrowed.ts";
import type { FileSystem } from "./fs.ts";
import { type Git, gitFailure, lineOrNull, must, mustLine } from "./git.ts";
import type { Snapshots } from "./snapshot.ts";

const dateDefault = "2000-01-01T00:00:00Z";

export interface CommitOrder {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** ISO 8601 with a zone; fixed by default. */
  readonly date?: string;
}

export function fixedCommit(git: Git, fs: FileSystem, commonDir: string, order: CommitOrder): string {
  const date = order.date ?? dateDefault;
  const env = {
    GIT_DIR: commonDir,
    GIT_AUTHOR_NAME: "atlas",
    GIT_AUTHOR_EMAIL: "atlas@localhost",
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: "atlas",
    GIT_COMMITTER_EMAIL: "atlas@localhost",
    GIT_COMMITTER_DATE: date,
  };
  const parents = order.parents.flatMap((parent) => ["-p", parent]);
  const args = ["-c", "i18n.commitEncoding=UTF-8", "commit-tree", "--no-gpg-sign", order.tree, ...parents, "-F", "-"];
  const commit = mustLine(git, args, { cwd: commonDir, env, input: order.message });
  syncObjects(fs, join(commonDir, "objects"));
  return commit;
}

/** The parentless commit a working tree stands on that has no commit to stand on. */
export function baseCommit(git: Git, fs: FileSystem, commonDir: string, tree: string): string {
  return fixedCommit(git, fs, commonDir, { tree, parents: [], message: "atlas: base\n" });
}

/** `<id>^{<type>}` in the project's store, null where it is not there or of another type. */
export function peeled(git: Git, commonDir: string, id: string, type: "commit" | "tree"): string | null {
  const args = ["rev-parse", "--verify", "--quiet", `${id}^{${type}}`];
  return lineOrNull(git, args, { cwd: commonDir, env: { GIT_DIR: commonDir } });
}

/** Copies a snapshot's tree into the project's store, where it may be the base of a commit. */
export function giveTree(git: Git, fs: FileSystem, snapshots: Snapshots, commonDir: string, tree: string): void {
  const list = snapshots.run(["rev-list", "--objects", "--no-object-names", tree]);
  if (list.code !== 0) throw gitFailure(["rev-list"], list);
  // --local: what is borrowed from the project is there already.
  const pack = snapshots.run(["pack-objects", "--local", "--stdout", "--quiet"], { input: list.stdout });
  if (pack.code !== 0) throw gitFailure(["pack-objects"], pack);
  const env = { GIT_DIR: commonDir };
  must(git, ["index-pack", "--stdin"], { cwd: commonDir, env, input: pack.stdout });
  syncObjects(fs, join(commonDir, "objects"));
}
