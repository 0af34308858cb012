/** Where programs that run in a tree would find what lies above it. Reads only; nothing found is executed. */
import { join, relative, sep } from "node:path";
import { entryKind, listFolder } from "./files.ts";
import { isWithin } from "./find-tool.ts";
import type { FileSystem } from "./fs.ts";
import { realPath } from "./repository.ts";

/** Absolute real paths. `main` is the checkout the tree was made from; the tree may lie inside it. */
export interface TreePair {
  readonly tree: string;
  readonly main: string;
}

/** A lead from the tree into the sources of the main checkout, in fixed words. */
export type Lead =
  | "npm finds the main checkout's package.json"
  | "node finds the main checkout's own packages through node_modules"
  | "go finds the main checkout's go.work"
  | "an editable install leads into the main checkout"
  | "PYTHONPATH leads into the main checkout"
  | "pytest takes the main checkout for its root";

export function treePair(fs: FileSystem, tree: string, main: string): TreePair {
  return { tree: realPath(fs, tree), main: realPath(fs, main) };
}

/** Whether a real path is one of the main checkout's own sources: not the tree's, not below an installed package. */
export function isMainSource({ tree, main }: TreePair, path: string): boolean {
  if (!isWithin(path, [main]) || isWithin(path, [tree])) return false;
  const parts = relative(main, path).split(sep);
  return !parts.some((part) => part === "node_modules" || part === ".atlas" || part === "site-packages");
}

export function isFileAt(fs: FileSystem, path: string): boolean {
  try {
    return fs.statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Whether `name` is found above the tree and not in it; the main checkout must lie above for that. */
export function foundAbove(fs: FileSystem, { tree, main }: TreePair, name: string): boolean {
  return isWithin(tree, [main]) && tree !== main && !isFileAt(fs, join(tree, name)) && isFileAt(fs, join(main, name));
}

const packagesMax = 5000;
const foldersMax = 400;
const depthMax = 4;

/** Whether a package that code in the tree asks for by name is a link to the main checkout's sources. */
export function packagesLeadOut(fs: FileSystem, pair: TreePair): boolean {
  const { tree, main } = pair;
  const own = modulesFolders(fs, tree);
  if (own.some((folder) => linkedPackages(fs, folder).some(({ real }) => isMainSource(pair, real)))) return true;
  if (!isWithin(tree, [main])) return false;
  const above = linkedPackages(fs, join(main, "node_modules")).filter(({ real }) => isMainSource(pair, real));
  // The tree's own entry of that name comes first.
  return above.some(({ name }) => entryKind(fs, join(tree, "node_modules", name)) === "absent");
}

/** Every `node_modules` of the tree and of the packages in it, not of packages below one. */
function modulesFolders(fs: FileSystem, tree: string): readonly string[] {
  const found: string[] = [];
  let level = [tree];
  for (let depth = 0, looked = 0; depth < depthMax && level.length > 0; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      looked += 1;
      if (looked > foldersMax) return found;
      for (const name of listFolder(fs, folder)) {
        const path = join(folder, name);
        if (name === "node_modules") found.push(path);
        else if (!name.startsWith(".") && entryKind(fs, path) === "folder") next.push(path);
      }
    }
    level = next;
  }
  return found;
}

function linkedPackages(fs: FileSystem, modules: string): readonly { readonly name: string; readonly real: string }[] {
  const names = listFolder(fs, modules)
    .filter((name) => !name.startsWith("."))
    .flatMap((name) =>
      name.startsWith("@") ? listFolder(fs, join(modules, name)).map((own) => join(name, own)) : [name],
    )
    .slice(0, packagesMax);
  return names
    .filter((name) => entryKind(fs, join(modules, name)) === "link")
    .map((name) => ({ name, real: realPath(fs, join(modules, name)) }));
}
