/** What differs between two trees of a snapshot repository: as a list, and as a patch. Reads and adds objects only. */
import { EnvironmentFailure } from "../core/result.ts";
import { gitFailure } from "./git.ts";
import { zeroRecords } from "./git-paths.ts";
import { indexInfo } from "./raw-tree.ts";
import type { Snapshots } from "./snapshot.ts";

export interface Change {
  /** UTF-8; a byte outside it is one lone surrogate (`git-paths.ts`), so no two paths are one. */
  readonly path: string;
  /** Added, modified, deleted, type changed (file to link). A rename is a D and an A. */
  readonly status: "A" | "M" | "D" | "T";
  /** `000000` where there is none. */
  readonly oldMode: string;
  readonly newMode: string;
  /** All zeros where there is none. */
  readonly oldBlob: string;
  readonly newBlob: string;
}

const flags = ["-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=none"];

/** Changes from one tree to another, in git's order (bytes of the path). Both are tree or commit ids. */
export function changesBetween(snapshots: Snapshots, from: string, to: string): readonly Change[] {
  const output = diffTree(snapshots, ["--raw", "-z", "--no-abbrev"], from, to);
  const records = zeroRecords(output);
  const changes: Change[] = [];
  for (let at = 0; at + 1 < records.length; at += 2) {
    const match = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([AMDT])$/.exec(records[at] ?? "");
    const [, oldMode = "", newMode = "", oldBlob = "", newBlob = "", status] = match ?? [];
    if (match === null) throw unknownForm();
    changes.push({
      path: records[at + 1] ?? "",
      status: status as Change["status"],
      oldMode,
      newMode,
      oldBlob,
      newBlob,
    });
  }
  return changes;
}

/** Sizes of blobs in bytes, by id, with one call of git. What this repository cannot see is not in the answer. */
export function sizesOf(snapshots: Snapshots, blobs: readonly string[]): ReadonlyMap<string, number> {
  const wanted = [...new Set(blobs)].filter((blob) => !/^0+$/.test(blob));
  const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
  const done = snapshots.run(args, { input: wanted.map((blob) => `${blob}\n`).join("") });
  if (done.code !== 0) throw gitFailure(args, done);
  const sizes = new Map<string, number>();
  for (const line of done.stdout.toString("latin1").split("\n")) {
    const match = /^([0-9a-f]+) (\d+)$/.exec(line);
    if (match !== null) sizes.set(match[1] as string, Number(match[2]));
  }
  return sizes;
}

/**
 * As `patchBetween`; null where it is more than can be held (256 MiB). A change of such a size is no reason for a run
 * to stand still.
 */
export function patchOrNull(snapshots: Snapshots, from: string, to: string): Buffer | null {
  try {
    return patchBetween(snapshots, from, to);
  } catch (error) {
    if (error instanceof EnvironmentFailure && error.code === "git.too_large") return null;
    throw error;
  }
}

/**
 * The patch from one tree to another, binary files included, as `git apply` takes it; with `paths`, of exactly these
 * files. Independent of the user's diff configuration.
 */
export function patchBetween(snapshots: Snapshots, from: string, to: string, paths?: readonly string[]): Buffer {
  const target = paths === undefined ? to : treeWith(snapshots, from, to, paths);
  const form = ["--patch", "--binary", "--full-index", "--unified=3", "--src-prefix=a/", "--dst-prefix=b/"];
  return diffTree(snapshots, [...form, "--diff-algorithm=myers", "--inter-hunk-context=0"], from, target);
}

/** The tree `from` with the changes to `paths` alone. No pathspec: a command line cannot carry every path (bytes). */
export function treeWith(snapshots: Snapshots, from: string, to: string, paths: readonly string[]): string {
  const wanted = new Set(paths);
  const changes = changesBetween(snapshots, from, to).filter((change) => wanted.has(change.path));
  return snapshots.withIndex((env) => {
    const call = (args: readonly string[], input: Buffer | string = "") => {
      const done = snapshots.run(args, { env, input });
      if (done.code !== 0) throw gitFailure(args, done);
      return done.stdout.toString("utf8").trim();
    };
    call(["read-tree", from]);
    const removed = changes.filter((change) => change.status === "D");
    const written = changes.filter((change) => change.status !== "D");
    const entries = [
      ...removed.map((change) => ({ mode: "0", blob: change.newBlob, path: change.path })),
      ...written.map((change) => ({ mode: change.newMode, blob: change.newBlob, path: change.path })),
    ];
    call(["update-index", "--replace", "-z", "--index-info"], indexInfo(entries));
    return call(["write-tree"]);
  });
}

function diffTree(snapshots: Snapshots, form: readonly string[], from: string, to: string): Buffer {
  const args = ["diff-tree", ...flags, ...form, from, to, "--"];
  const done = snapshots.run(args);
  if (done.code !== 0) throw gitFailure(args, done);
  return done.stdout;
}

function unknownForm(): EnvironmentFailure {
  return new EnvironmentFailure("git.failed", "git diff-tree printed a record of an unknown form", "atlas doctor");
}
