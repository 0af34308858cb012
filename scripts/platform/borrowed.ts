/**
 * A snapshot borrows objects from the project's store. What no branch of the project holds (staged only, an agent's
 * own commit) a `git gc` there may prune, so it is copied here once. What HEAD holds stays borrowed: whoever relies
 * on a snapshot for longer than reflogs live keeps a ref on its base.
 *
 * What a failure leaves behind: a pack more than needed. The mark of a sealed tree is written last, so it is never ahead.
 */
import { dirname, join } from "node:path";
import { entryKind, listFolder, makeFolder, replaceFile, syncFolder } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { type Git, lineOrNull, must } from "./git.ts";

/**
 * Makes `tree` whole in the repository `gitDir`, but for what the project's HEAD (of its main tree) holds, and
 * durable. A tree sealed before costs one look.
 */
export function sealTree(git: Git, fs: FileSystem, gitDir: string, commonDir: string | null, tree: string): void {
  const mark = join(gitDir, "sealed", tree);
  if (entryKind(fs, mark) === "file") return;
  if (commonDir !== null) copyBorrowed(git, fs, gitDir, commonDir, tree);
  syncObjects(fs, join(gitDir, "objects"));
  // The store itself: whoever made it may have been killed before its name was durable.
  syncFolder(fs, gitDir);
  syncFolder(fs, dirname(gitDir));
  makeFolder(fs, join(gitDir, "sealed"));
  replaceFile(fs, mark, "", false);
}

/** Makes the entries of an object store durable; git syncs the files and leaves their folders. */
export function syncObjects(fs: FileSystem, objects: string): void {
  for (const name of listFolder(fs, objects)) {
    if (name === "pack" || /^[0-9a-f]{2}$/.test(name)) syncFolder(fs, join(objects, name));
  }
  syncFolder(fs, objects);
}

function copyBorrowed(git: Git, fs: FileSystem, gitDir: string, commonDir: string, tree: string): void {
  const project = { cwd: commonDir, env: { GIT_DIR: commonDir } };
  const head = lineOrNull(git, ["rev-parse", "--verify", "--quiet", "HEAD^{tree}"], project);
  const on = { cwd: gitDir, env: { GIT_DIR: gitDir } };
  const list = ["rev-list", "--objects", "--no-object-names", tree, ...(head === null ? [] : [`^${head}`])];
  const own = looseObjects(fs, join(gitDir, "objects"));
  const needed = must(git, list, on).toString("latin1").split("\n");
  const borrowed = needed.filter((id) => id !== "" && !own.has(id));
  if (borrowed.length === 0) return;
  const pack = ["pack-objects", "--quiet", join(gitDir, "objects", "pack", "pack")];
  must(git, pack, { ...on, input: `${borrowed.join("\n")}\n` });
}

function looseObjects(fs: FileSystem, objects: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const folder of listFolder(fs, objects)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue;
    for (const name of listFolder(fs, join(objects, folder))) found.add(folder + name);
  }
  return found;
}
