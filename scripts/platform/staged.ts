/** The staged content of a working tree as a tree in the project's store. The tree's own index is only read. */
import { type Git, must, mustLine } from "./git.ts";
import { indexInfo, stageEntries } from "./raw-tree.ts";
import type { Snapshots } from "./snapshot.ts";

/**
 * The tree of an index; null where the index cannot be read (a power loss tears it) or is absent. Unmerged
 * entries are there as `<path>.stage-<n>`.
 */
export function stagedTree(git: Git, snapshots: Snapshots, gitDir: string, commonDir: string): string | null {
  const listed = git.run(["ls-files", "-z", "--stage"], {
    cwd: gitDir,
    env: { GIT_DIR: gitDir, GIT_WORK_TREE: gitDir },
  });
  if (listed.code !== 0 || listed.stdout.length === 0) return null;
  const entries = stageEntries(listed.stdout).map((entry) =>
    entry.stage === 0 ? entry : { ...entry, path: `${entry.path}.stage-${entry.stage}` },
  );
  return snapshots.withIndex((index) => {
    const on = { cwd: commonDir, env: { ...index, GIT_DIR: commonDir } };
    must(git, ["update-index", "-z", "--index-info"], { ...on, input: indexInfo(entries) });
    // --missing-ok: in a partial clone, and for a submodule's commit, the object lies elsewhere.
    return mustLine(git, ["write-tree", "--missing-ok"], on);
  });
}
