/**
 * The members of a workspace. Folders cannot be listed from here, so members behind a glob are taken from the lockfile,
 * which names every one of them; without one they are not known.
 */
import { below, type Following, inFolder, type Look } from "./following.ts";
import { type Manifest, manifestIn, nearestManifest, readJson, readJsonc, record } from "./manifests.ts";
import type { Word } from "./shell-reader.ts";

const membersMax = 200;

export interface Members {
  readonly root: string;
  readonly manifests: readonly Manifest[];
}

/** Null, with its fault said: not known. The root itself is no member. */
export function workspaceMembers(following: Following, folder: string): Members | null {
  const { look } = following;
  const root = workspaceRoot(look, folder);
  const patterns = root === null ? [] : [...root.workspaces, ...pnpmPatterns(look, root.folder)];
  if (root === null || patterns.length === 0) return unknown(following);
  const plain = patterns.filter((pattern) => !pattern.startsWith("!"));
  const literals = plain.filter((pattern) => !/[*?[\]{}()]/.test(pattern));
  const locked = literals.length === patterns.length ? [] : lockedFolders(look, root.folder);
  if (locked === null) return unknown(following);
  const folders = new Set(
    [...literals, ...locked].map((path) => below(root.folder, path)).filter((path) => path !== null),
  );
  folders.delete(root.folder);
  if (folders.size > membersMax) return unknown(following);
  const manifests = [...folders].map((path) => manifestIn(look, path)).filter((one) => one !== null);
  return { root: root.folder, manifests };
}

/** The members named by a folder or a package's name. Null, with its fault said: one of them is not known. */
export function namedMembers(following: Following, folder: string, names: readonly Word[]): readonly Manifest[] | null {
  const members = workspaceMembers(following, folder);
  if (members === null) return null;
  const chosen = names.map(({ text, isLiteral }) => {
    const path = below(members.root, text);
    return isLiteral ? members.manifests.find((one) => one.name === text || one.folder === path) : undefined;
  });
  const found = chosen.filter((one) => one !== undefined);
  if (found.length === names.length) return found;
  following.fault("workspaces");
  return null;
}

function workspaceRoot(look: Look, folder: string): Manifest | null {
  for (let at: string | null = folder; at !== null; at = at === "" ? null : below(at, "..")) {
    const manifest = manifestIn(look, at);
    if (manifest === null) continue;
    if (manifest.workspaces.length > 0 || pnpmPatterns(look, at).length > 0) return manifest;
  }
  return nearestManifest(look, folder);
}

function pnpmPatterns(look: Look, folder: string): readonly string[] {
  const text = look(inFolder(folder, "pnpm-workspace.yaml"));
  const found: string[] = [];
  let inList = false;
  for (const line of (text ?? "").slice(0, 64 * 1024).split("\n")) {
    const item = /^\s*-\s*["']?([^"'#\s]+)/.exec(line)?.[1];
    if (/^\S/.test(line) && item === undefined) inList = line.startsWith("packages:");
    else if (inList && item !== undefined) found.push(item);
  }
  return found;
}

/** Null: no lockfile that names members. */
function lockedFolders(look: Look, root: string): readonly string[] | null {
  const npm = record(readJson(look(inFolder(root, "package-lock.json")))?.packages);
  if (npm !== null) return Object.keys(npm).filter((path) => path !== "" && !/(^|\/)node_modules\//.test(path));
  const pnpm = look(inFolder(root, "pnpm-lock.yaml"));
  if (pnpm !== null) {
    const from = pnpm.search(/^importers:/m);
    const behind = from < 0 ? "" : pnpm.slice(from + "importers:".length);
    const end = behind.search(/\n[^\s#]/);
    const block = end < 0 ? behind : behind.slice(0, end);
    return [...block.matchAll(/^ {2}["']?([^\s"':][^"':\n]*)["']?:/gm)].map((match) => match[1] ?? "");
  }
  const yarn = look(inFolder(root, "yarn.lock"));
  if (yarn?.includes("__metadata:") === true) {
    return [...yarn.matchAll(/^ {2}resolution: "[^"\n]*@workspace:([^"\n]+)"/gm)].map((match) => match[1] ?? "");
  }
  const bun = record(readJsonc(look(inFolder(root, "bun.lock")))?.workspaces);
  return bun === null ? null : Object.keys(bun);
}

function unknown(following: Following): null {
  following.fault("workspaces");
  return null;
}
