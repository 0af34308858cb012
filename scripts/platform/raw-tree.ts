/**
 * The raw bytes of a working tree as a git tree: same bytes, modes and links, same tree id.
 *
 * Every call runs on the snapshot repository, whose `info/attributes` outrank each `.gitattributes` and switch
 * conversion, filters and encodings off; so nothing of the target runs. The index is a stat cache and never an
 * input: what it knows beyond the rules below is dropped first.
 *
 * Taken: every file and link that the ignore rules let through, and what the project's index tracks in spite of
 * them. In a sparse checkout, what is not checked out is as the index says. Never taken: `except`, nested
 * repositories (submodules too), empty folders, devices.
 */
import { EnvironmentFailure } from "../core/result.ts";
import { type Git, type GitOptions, must, mustLine } from "./git.ts";
import { zeroInput, zeroRecords } from "./git-paths.ts";

export interface RawPlace {
  /** The snapshot repository. */
  readonly gitDir: string;
  readonly workTree: string;
  readonly indexFile: string;
  /** Where new objects go; the snapshot repository's own store when null. */
  readonly objects: string | null;
  readonly ignores: IgnoreRules;
  /** Names in the root that are never taken. */
  readonly except: readonly string[];
  /** Whether the tree belongs to a repository of its own, whose index says what is tracked. */
  readonly tracked: boolean;
}

export interface IgnoreRules {
  /** `.git/info/exclude`, if there is one. */
  readonly excludeFile: string | null;
  /** The project's own `core.excludesFile`, if it sets one. */
  readonly excludesFile: string | null;
}

export interface Snapshot {
  readonly tree: string;
  /** Repositories inside the tree that the ignore rules let through, submodules among them; sorted. */
  readonly nested: readonly string[];
}

interface Entry {
  readonly mode: string;
  readonly blob: string;
  readonly path: string;
}

/** Throws EnvironmentFailure `git.failed` where a file cannot be read. */
export function rawTree(git: Git, place: RawPlace): Snapshot {
  const on = { cwd: place.workTree, env: rawEnvironment(place) };
  const ignore = ignoreArguments(place.ignores, place.except);
  const list = (...args: string[]) =>
    zeroRecords(must(git, [...settings(place), "ls-files", "-z", ...args, ...ignore], on));
  const update = (args: readonly string[], input: Buffer) =>
    must(git, [...settings(place), "update-index", ...args], { ...on, input });

  const forced = place.tracked ? trackedThoughIgnored(git, place) : [];
  const wanted = new Set(forced.map((entry) => entry.path));
  const cached = list("--cached", "--ignored");
  const known = new Set(cached);
  const stale = cached.filter((path) => !wanted.has(path));
  if (stale.length > 0) update(["--force-remove", "-z", "--stdin"], zeroInput(stale));
  const missing = forced.filter((entry) => !known.has(entry.path));
  // Its blob is a placeholder: the entry has no stat data, so the comparison below reads the file or drops the entry.
  if (missing.length > 0) update(["--replace", "-z", "--index-info"], indexInfo(missing));

  const changed = changedEntries(git, place, on);
  // Dropped before the listing, because a path the index knows is never listed as the repository it has become.
  if (changed.gone.length > 0) update(["--force-remove", "-z", "--stdin"], zeroInput(changed.gone));
  const others = list("--others");
  const nested = others.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1));
  const files = [...changed.there, ...others.filter((path) => !path.endsWith("/"))];
  // --remove: a file that vanished since it was listed is no failure.
  if (files.length > 0) update(["--add", "--remove", "--replace", "-z", "--stdin"], zeroInput(files));

  let tree = mustLine(git, [...settings(place), "write-tree"], on);
  if (place.tracked) tree = withSparse(git, place, tree);
  return { tree, nested: nested.sort() };
}

/** Makes the next taking read these files again, whatever their stat data say. */
export function distrust(git: Git, place: RawPlace, entries: readonly Entry[]): void {
  if (entries.length === 0) return;
  const on = { cwd: place.workTree, env: rawEnvironment(place), input: indexInfo(entries) };
  must(git, [...settings(place), "update-index", "-z", "--index-info"], on);
}

/** Ignored files of the tree, by path; a folder that is a repository ends with `/`. */
export function ignoredPaths(git: Git, place: RawPlace): readonly string[] {
  const on = { cwd: place.workTree, env: { ...rawEnvironment(place), GIT_INDEX_FILE: `${place.indexFile}.none` } };
  const ignore = ignoreArguments(place.ignores, []);
  const tracked = new Set(place.tracked ? trackedThoughIgnored(git, place).map((entry) => entry.path) : []);
  const args = [...settings(place), "ls-files", "-z", "--others", "--ignored", ...ignore];
  return zeroRecords(must(git, args, on)).filter((path) => !tracked.has(path));
}

/** Every file of the tree, ignored ones too; a folder that is a repository ends with `/` and is not entered. */
export function allPaths(git: Git, place: RawPlace): readonly string[] {
  const on = { cwd: place.workTree, env: { ...rawEnvironment(place), GIT_INDEX_FILE: `${place.indexFile}.none` } };
  return zeroRecords(must(git, [...settings(place), "ls-files", "-z", "--others"], on));
}

export function indexInfo(entries: readonly Entry[]): Buffer {
  return zeroInput(entries.map((entry) => `${entry.mode} ${entry.blob} 0\t${entry.path}`));
}

/** `<mode> <blob> <stage>\t<path>` records of `ls-files --stage`. */
export function stageEntries(output: Buffer): readonly (Entry & { readonly stage: number })[] {
  return zeroRecords(output).map((record) => {
    const tab = record.indexOf("\t");
    const [mode, blob, stage] = record.slice(0, tab).split(" ");
    if (tab === -1 || mode === undefined || blob === undefined || stage === undefined) {
      throw new EnvironmentFailure("git.failed", "git ls-files printed a record of an unknown form", "atlas doctor");
    }
    return { mode, blob, stage: Number(stage), path: record.slice(tab + 1) };
  });
}

export function rawEnvironment(place: Pick<RawPlace, "gitDir" | "workTree" | "indexFile" | "objects">) {
  return {
    GIT_DIR: place.gitDir,
    GIT_WORK_TREE: place.workTree,
    GIT_INDEX_FILE: place.indexFile,
    ...(place.objects === null ? {} : { GIT_OBJECT_DIRECTORY: place.objects }),
  };
}

/** What a user's own configuration could change about reading: stat shortcuts, index forms, symlink probes. */
function settings(place: RawPlace): readonly string[] {
  const fixed = [
    "core.trustctime=true",
    "core.checkStat=default",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "core.sparseCheckout=false",
    "core.safecrlf=false",
    "index.sparse=false",
    "index.version=2",
  ];
  if (place.ignores.excludesFile !== null) fixed.push(`core.excludesFile=${place.ignores.excludesFile}`);
  return fixed.flatMap((setting) => ["-c", setting]);
}

function ignoreArguments(ignores: IgnoreRules, except: readonly string[]): readonly string[] {
  return [
    ...except.map((name) => `--exclude=/${name.replace(/[\\*?[\]!# ]/g, "\\$&")}`),
    "--exclude-standard",
    ...(ignores.excludeFile === null ? [] : [`--exclude-from=${ignores.excludeFile}`]),
  ];
}

function trackedThoughIgnored(git: Git, place: RawPlace): readonly Entry[] {
  const args = ["ls-files", "-z", "--stage", "--cached", "--ignored", "--exclude-standard"];
  const done = git.run(args, { cwd: place.workTree });
  // An index torn by a power loss says nothing about what is tracked; the files themselves are still taken.
  if (done.code !== 0) return [];
  const inside = (path: string) => !place.except.some((name) => path === name || path.startsWith(`${name}/`));
  return stageEntries(done.stdout).filter((entry) => entry.mode !== "160000" && inside(entry.path));
}

/** Cached paths whose file is gone (or is a repository now), and those whose file may differ. */
function changedEntries(git: Git, place: RawPlace, on: GitOptions): Record<"gone" | "there", readonly string[]> {
  const args = ["diff-files", "--raw", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=all"];
  const records = zeroRecords(must(git, [...settings(place), ...args], on));
  const gone: string[] = [];
  const there: string[] = [];
  for (let at = 0; at + 1 < records.length; at += 2) {
    const isGone = /^:\d{6} (000000|160000) /.test(records[at] ?? "");
    (isGone ? gone : there).push(records[at + 1] ?? "");
  }
  return { gone, there };
}

/** Adds what a sparse checkout left out, as the project's index has it. */
function withSparse(git: Git, place: RawPlace, tree: string): string {
  const sparse = git.run(["config", "--type=bool", "--get", "core.sparseCheckout"], { cwd: place.workTree });
  if (sparse.stdout.toString("utf8").trim() !== "true") return tree;
  const listed = git.run(["ls-files", "-z", "-t", "--stage"], { cwd: place.workTree });
  if (listed.code !== 0) return tree;
  const skipped = zeroRecords(listed.stdout).filter((record) => record.startsWith("S "));
  const env = { ...rawEnvironment(place) };
  const on = { cwd: place.workTree, env };
  const present = new Set(zeroRecords(must(git, [...settings(place), "ls-files", "-z"], on)));
  const entries = stageEntries(zeroInput(skipped.map((record) => record.slice(2))));
  const absent = entries.filter((entry) => entry.mode !== "160000" && !present.has(entry.path));
  if (absent.length === 0) return tree;
  // In an index apart: the cache holds what is on disk and nothing else.
  const apart = { ...on, env: { ...env, GIT_INDEX_FILE: `${place.indexFile}.sparse` } };
  must(git, [...settings(place), "read-tree", tree], apart);
  must(git, [...settings(place), "update-index", "-z", "--index-info"], { ...apart, input: indexInfo(absent) });
  return mustLine(git, [...settings(place), "write-tree"], apart);
}
