/** Where a tool of the machine lies. Nothing that lies in one of the given folders is ever a tool of the machine. */
import { delimiter, isAbsolute, join, sep } from "node:path";
import type { FileSystem } from "./fs.ts";
import { realPath } from "./repository.ts";

/** The absolute folders of a PATH whose real place lies in none of `outside`, in order. */
export function pathFolders(fs: FileSystem, path: string | undefined, outside: readonly string[]): readonly string[] {
  const closed = outside.map((folder) => realPath(fs, folder));
  const folders = (path ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return [...new Set(folders)].filter((folder) => !isWithin(realPath(fs, folder), closed));
}

/** The first program of that bare name in `folders`, as absolute path; null where there is none. */
export function findTool(
  fs: FileSystem,
  folders: readonly string[],
  name: string,
  outside: readonly string[],
): string | null {
  const closed = outside.map((folder) => realPath(fs, folder));
  for (const folder of folders) {
    const path = join(folder, process.platform === "win32" ? `${name}.exe` : name);
    if (isProgram(fs, path) && !isWithin(realPath(fs, path), closed)) return path;
  }
  return null;
}

/** Whether `path` is one of the folders or lies below one. Compared as written: give real paths. */
export function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep));
}

function isProgram(fs: FileSystem, path: string): boolean {
  try {
    const stat = fs.statSync(path);
    return stat.isFile() && (process.platform === "win32" || (stat.mode & 0o111) !== 0);
  } catch {
    return false;
  }
}
