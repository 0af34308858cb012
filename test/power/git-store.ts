/**
 * What a git repository is on a disk, as far as this product relies on it: objects and refs whose content git syncs
 * (`core.fsync=committed,reference`) and whose folders it does not; an index and pointers it does not sync at all.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { listFolder, readBounded } from "../../scripts/platform/files.ts";
import type { FileSystem } from "../../scripts/platform/fs.ts";

const bytesMax = 64 * 1024 * 1024;
let temporaries = 0;

export function textAt(fs: FileSystem, path: string): string | null {
  const read = readBounded(fs, path, bytesMax);
  return read.kind === "file" ? read.bytes.toString("latin1") : null;
}

export function isFolder(fs: FileSystem, path: string): boolean {
  try {
    return fs.statSync(path).isDirectory();
  } catch {
    return false;
  }
}

export function makeFolders(fs: FileSystem, path: string): void {
  if (isFolder(fs, path)) return;
  makeFolders(fs, dirname(path));
  fs.mkdirSync(path);
}

/** Through a temporary sibling, as git writes; `synced`: the content, never the folder. */
export function put(fs: FileSystem, path: string, text: string, synced: boolean): void {
  temporaries += 1;
  const temporary = join(dirname(path), `tmp_obj_${temporaries}`);
  const fd = fs.openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
  const bytes = Buffer.from(text, "latin1");
  if (bytes.length > 0) fs.writeSync(fd, bytes, 0, bytes.length, null);
  if (synced) fs.fsyncSync(fd);
  fs.closeSync(fd);
  fs.renameSync(temporary, path);
}

export interface Entry {
  readonly mode: string;
  readonly blob: string;
}

export type Index = Map<string, Entry>;

export type Stored =
  | { readonly type: "blob"; readonly text: string }
  | { readonly type: "tree"; readonly entries: Index }
  | { readonly type: "commit"; readonly tree: string; readonly parents: readonly string[]; readonly text: string };

export const NULL_ID = "0".repeat(40);

function objectPath(objects: string, id: string): string {
  return join(objects, id.slice(0, 2), id.slice(2));
}

/** The store itself, then what it borrows from. */
function storesOf(fs: FileSystem, objects: string): readonly string[] {
  const borrowed = textAt(fs, join(objects, "info", "alternates"))?.trim();
  return borrowed === undefined || borrowed === "" ? [objects] : [objects, JSON.parse(borrowed) as string];
}

export function rawObject(fs: FileSystem, objects: string, id: string): string | null {
  for (const store of storesOf(fs, objects)) {
    const text = textAt(fs, objectPath(store, id));
    if (text !== null && hashOf(text) === id) return text;
    for (const name of listFolder(fs, join(store, "pack"))) {
      if (!name.endsWith(".pack")) continue;
      const packed = JSON.parse(textAt(fs, join(store, "pack", name)) || "{}") as Record<string, string>;
      if (packed[id] !== undefined) return packed[id];
    }
  }
  return null;
}

function hashOf(text: string): string {
  return createHash("sha1").update(text, "latin1").digest("hex");
}

/** An object that is there is not written again. */
export function writeObject(fs: FileSystem, objects: string, text: string): string {
  const id = hashOf(text);
  if (rawObject(fs, objects, id) !== null) return id;
  makeFolders(fs, dirname(objectPath(objects, id)));
  put(fs, objectPath(objects, id), text, true);
  return id;
}

export function stored(fs: FileSystem, objects: string, id: string): Stored | null {
  const text = rawObject(fs, objects, id);
  if (text === null) return null;
  const body = text.slice(text.indexOf("\n") + 1);
  if (text.startsWith("blob\n")) return { type: "blob", text: body };
  if (text.startsWith("tree\n")) return { type: "tree", entries: new Map(JSON.parse(body) as [string, Entry][]) };
  const { tree, parents } = JSON.parse(body) as { readonly tree: string; readonly parents: readonly string[] };
  return { type: "commit", tree, parents, text: body };
}

export function treeText(entries: Index): string {
  return `tree\n${JSON.stringify([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

/** Everything an object needs, itself first; null: something of it is gone. */
export function closureOf(fs: FileSystem, objects: string, id: string): readonly string[] | null {
  const found = stored(fs, objects, id);
  if (found === null) return null;
  if (found.type === "blob") return [id];
  const below =
    found.type === "tree" ? [...found.entries.values()].map((entry) => entry.blob) : [found.tree, ...found.parents];
  const all = [id];
  for (const one of below) {
    const more = closureOf(fs, objects, one);
    if (more === null) return null;
    all.push(...more);
  }
  return all;
}

export function readIndex(fs: FileSystem, path: string): Index {
  const text = textAt(fs, path);
  if (text === null) return new Map();
  return new Map(JSON.parse(text) as [string, Entry][]);
}

export function writeIndex(fs: FileSystem, path: string, index: Index, synced: boolean): void {
  put(fs, path, JSON.stringify([...index]), synced);
}

export interface Found {
  /** This working tree's own folder of git's. */
  readonly gitDir: string;
  readonly commonDir: string;
  /** Null where git was told its folder and no tree. */
  readonly top: string | null;
}

/** The repository a call speaks of: by its environment, else by where it stands. */
export function findRepository(fs: FileSystem, cwd: string, env: Readonly<Record<string, string>>): Found | null {
  if (env.GIT_DIR !== undefined) {
    return isFolder(fs, env.GIT_DIR) ? { ...commonOf(fs, env.GIT_DIR), top: env.GIT_WORK_TREE ?? null } : null;
  }
  for (let folder = cwd; ; folder = dirname(folder)) {
    const dot = join(folder, ".git");
    if (isFolder(fs, dot)) return { ...commonOf(fs, dot), top: folder };
    const named = /^gitdir: (.+)\n$/.exec(textAt(fs, dot) ?? "")?.[1];
    if (named !== undefined && isFolder(fs, named)) return { ...commonOf(fs, named), top: folder };
    if (isFolder(fs, join(folder, "objects")) && isFolder(fs, join(folder, "refs"))) {
      return { ...commonOf(fs, folder), top: null };
    }
    // Of a tree whose HEAD is asked for in its own folder below `worktrees`.
    if (textAt(fs, join(folder, "commondir")) !== null) return { ...commonOf(fs, folder), top: null };
    if (dirname(folder) === folder) return null;
  }
}

function commonOf(fs: FileSystem, gitDir: string): Pick<Found, "gitDir" | "commonDir"> {
  const named = textAt(fs, join(gitDir, "commondir"))?.trim();
  return { gitDir, commonDir: named === undefined || named === "" ? gitDir : resolve(gitDir, named) };
}

/** The id a name stands for; null where there is none. */
export function resolveRef(fs: FileSystem, repository: Found, name: string): string | null {
  if (/^[0-9a-f]{40}$/.test(name)) return name;
  const text = textAt(fs, join(name === "HEAD" ? repository.gitDir : repository.commonDir, name))?.trim();
  if (text === undefined || text === "") return null;
  return text.startsWith("ref: ") ? resolveRef(fs, repository, text.slice(5)) : text;
}

export function refsBelow(fs: FileSystem, commonDir: string, below: string): readonly string[] {
  const found: string[] = [];
  const walk = (name: string): void => {
    if (!isFolder(fs, join(commonDir, name))) {
      if (/^[0-9a-f]{40}\n$/.test(textAt(fs, join(commonDir, name)) ?? "")) found.push(name);
      return;
    }
    for (const child of listFolder(fs, join(commonDir, name))) walk(`${name}/${child}`);
  };
  walk(below.replace(/\/$/, ""));
  return found;
}

/** Files of a working tree by path; a repository inside ends with `/` and is not entered. */
export function filesOf(fs: FileSystem, root: string, except: readonly string[]): readonly string[] {
  const found: string[] = [];
  const walk = (below: string): void => {
    for (const name of listFolder(fs, join(root, below))) {
      const path = below === "" ? name : `${below}/${name}`;
      if (name === ".git" || (below === "" && except.includes(name))) continue;
      if (!isFolder(fs, join(root, path))) found.push(path);
      else if (listFolder(fs, join(root, path)).includes(".git")) found.push(`${path}/`);
      else walk(path);
    }
  };
  walk("");
  return found;
}
