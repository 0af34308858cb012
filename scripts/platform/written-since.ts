/** Files a command wrote by itself, told by their change time against a mark written before it began. */
import { join } from "node:path";
import { listFolder } from "./files.ts";
import type { FileSystem } from "./fs.ts";

const entriesMax = 50_000;
const foundMax = 5000;
const never = new Set([".git", ".atlas", "node_modules", ".venv", "venv", ".tox", ".nox"]);

/**
 * Absolute paths of regular files below `root` that `matches` holds for and whose inode changed after the mark was written,
 * in order of their names. The change time is the system's own: no program sets it back. Follows no link.
 */
export function writtenSince(
  fs: FileSystem,
  root: string,
  matches: (path: string) => boolean,
  mark: string,
): readonly string[] {
  const sinceMs = statOrNull(fs, mark)?.ctimeMs;
  if (sinceMs === undefined) return [];
  const found: string[] = [];
  const folders = [""];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const name of [...listFolder(fs, join(root, folder))].sort()) {
      entries += 1;
      if (entries > entriesMax || found.length >= foundMax) return found.sort();
      const path = folder === "" ? name : `${folder}/${name}`;
      const stat = statOrNull(fs, join(root, path));
      if (stat?.isDirectory() === true && !never.has(name)) folders.push(path);
      if (stat?.isFile() === true && stat.ctimeMs >= sinceMs && matches(path)) found.push(join(root, path));
    }
  }
  return found.sort();
}

function statOrNull(fs: FileSystem, path: string) {
  try {
    return fs.lstatSync(path);
  } catch {
    return null;
  }
}
