/**
 * Refs of finished runs: those that are not `kept` go, a run's branch goes when another ref reaches its commits, and
 * kept ones go by the human's word alone.
 *
 * What a failure leaves behind: some refs deleted, each whole; the next call deletes the rest.
 */
import type { RunId } from "../core/ids.ts";
import { type Git, must } from "../platform/git.ts";
import { sha256 } from "../platform/hash.ts";
import { refSegment } from "../platform/keep.ts";
import { type Sweep, sweepAway } from "./clean-sweep.ts";

export interface Ref {
  readonly name: string;
  readonly id: string;
  /** The working tree that has it checked out; empty: none. */
  readonly tree: string;
}

/** Refs of ours and branches the original may have made, of one repository. */
export interface Refs {
  readonly commonDir: string;
  readonly all: readonly Ref[];
}

/** Throws EnvironmentFailure `git.failed` for a repository that cannot be read. */
export function listRefs(git: Git, commonDir: string): Refs {
  const format = "--format=%(refname)%00%(objectname)%00%(worktreepath)%00";
  const args = ["for-each-ref", format, "refs/atlas/", "refs/heads/atlas/"];
  const listed = must(git, args, { cwd: commonDir, env: { GIT_DIR: commonDir } });
  const words = listed.toString("utf8").split("\0");
  const all: Ref[] = [];
  for (let at = 0; at + 2 < words.length; at += 3) {
    all.push({ name: (words[at] ?? "").replace(/^\n/, ""), id: words[at + 1] ?? "", tree: words[at + 2] ?? "" });
  }
  return { commonDir, all };
}

/** The refs below `refs/atlas/<run>/`. */
export function refsOfRun(git: Git, refs: Refs, id: RunId): readonly Ref[] {
  const below = (segment: string) => refs.all.filter((ref) => ref.name.startsWith(`refs/atlas/${segment}/`));
  const hashed = `x-${sha256(id).slice(0, 8)}`;
  // Git is asked only where a ref could be ours under the other name.
  if (below(hashed).length > 0 && refSegment(git, id) === hashed) return below(hashed);
  return below(id);
}

/** `refs/atlas/<run>/e<epoch>/kept/…`: content that was kept before its tree was taken away. */
export function isKept(ref: Ref): boolean {
  return /^refs\/atlas\/[^/]+\/e\d+\/kept\//.test(ref.name);
}

/** `atlas/<id>`, or below it; and what a tree of the run has checked out under such a name. */
export function branchesOfRun(refs: Refs, id: RunId, trees: ReadonlySet<string>): readonly Ref[] {
  const own = `refs/heads/atlas/${id}`;
  return refs.all.filter(
    ({ name, tree }) => name === own || name.startsWith(`${own}/`) || (name.startsWith(own) && trees.has(tree)),
  );
}

/** Whether a ref that stays, other than this one, reaches its commit. */
export function isReachedByOthers(git: Git, commonDir: string, ref: Ref, sweep: Sweep): boolean {
  return reaching(git, commonDir, ref.id).some((name) => name !== ref.name && !sweep.gone.has(name));
}

export function reaching(git: Git, commonDir: string, commit: string): readonly string[] {
  const args = ["for-each-ref", "--format=%(refname)", "--contains", commit];
  const done = git.run(args, { cwd: commonDir, env: { GIT_DIR: commonDir } });
  if (done.code !== 0) return [];
  return done.stdout
    .toString("utf8")
    .split("\n")
    .filter((name) => name !== "");
}

/** Deletes a ref only while it still is what was looked at. */
export function sweepRef(git: Git, commonDir: string, ref: Ref, sweep: Sweep): void {
  const args = ["update-ref", "--no-deref", "-d", ref.name, ref.id];
  const gone = sweepAway(sweep, ref.name, () => {
    must(git, args, { cwd: commonDir, env: { GIT_DIR: commonDir } });
  });
  if (gone) sweep.gone.add(ref.name);
}
