import { gitFailure } from "./git.ts";
import { zeroRecords } from "./git-paths.ts";
import type { Snapshots } from "./snapshot.ts";

/** Every path of a tree, and which of them are repositories of their own (gitlinks). */
export function treePaths(
  snapshots: Snapshots,
  tree: string,
): { readonly paths: readonly string[]; readonly nested: readonly string[] } {
  const args = ["ls-tree", "-r", "-z", tree];
  const done = snapshots.run(args);
  if (done.code !== 0) throw gitFailure(args, done);
  const entries = zeroRecords(done.stdout).map((record) => {
    const tab = record.indexOf("\t");
    return { isNested: record.startsWith("160000 "), path: record.slice(tab + 1) };
  });
  return {
    paths: entries.map(({ path }) => path),
    nested: entries.filter(({ isNested }) => isNested).map(({ path }) => path),
  };
}
