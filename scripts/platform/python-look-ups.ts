/** Where python, run in a tree, finds packages: installs that only point to sources, and PYTHONPATH. Reads only. */
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { listFolder, readBounded } from "./files.ts";
import { findTool, isWithin, pathFolders } from "./find-tool.ts";
import type { FileSystem } from "./fs.ts";
import { isMainSource, type TreePair } from "./look-ups.ts";
import { realPath } from "./repository.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const textBytesMax = 256 * 1024;
const entriesMax = 5000;
const venvNames = [".venv", "venv", "env", ".env", "virtualenv"];

/** Whether an entry of PYTHONPATH lies in the main checkout's sources. A relative one is the tree's. */
export function pythonPathLeadsOut(fs: FileSystem, pair: TreePair, { PYTHONPATH }: Environment): boolean {
  const entries = (PYTHONPATH ?? "").split(delimiter).filter((entry) => isAbsolute(entry));
  return entries.some((entry) => isMainSource(pair, realPath(fs, entry)));
}

/** Real paths of the main checkout's sources that an environment python would be run from has as editable installs. */
export function editableSources(
  fs: FileSystem,
  pair: TreePair,
  environment: Environment,
  command: string,
): readonly string[] {
  const sites = environmentsAtHand(fs, pair, environment, command).flatMap((prefix) => sitePackages(fs, prefix));
  const named = [...new Set(sites)].flatMap((site) => editablesOf(fs, site));
  return [...new Set(named.map((path) => realPath(fs, path)))].filter((path) => isMainSource(pair, path));
}

/** Prefixes of environments: the active one, those a PATH, the command or the tree itself leads to, the machine's, the user's. */
function environmentsAtHand(
  fs: FileSystem,
  { tree, main }: TreePair,
  environment: Environment,
  command: string,
): readonly string[] {
  const { PATH, HOME, VIRTUAL_ENV, CONDA_PREFIX } = environment;
  const folders = pathFolders(fs, PATH, []);
  const python = findTool(fs, folders, "python3", []) ?? findTool(fs, folders, "python", []);
  const prefixes = [VIRTUAL_ENV, CONDA_PREFIX, HOME === undefined ? undefined : join(HOME, ".local")];
  if (python !== null) {
    // A virtual environment's program is a link out of it; its packages lie beside the link.
    prefixes.push(dirname(dirname(python)), dirname(dirname(realPath(fs, python))));
    if (dirname(python).endsWith("shims")) {
      const versions = join(dirname(dirname(python)), "versions");
      prefixes.push(...listFolder(fs, versions).map((name) => join(versions, name)));
    }
  }
  prefixes.push(...venvNames.map((name) => join(tree, name)));
  for (const name of venvNames) {
    const venv = join(main, name);
    const isOnPath = folders.some((folder) => isWithin(folder, [venv]));
    if (isOnPath || command.includes(`${venv}/`) || command.includes(`../${name}/`)) prefixes.push(venv);
  }
  return [...new Set(prefixes.filter((prefix) => prefix !== undefined && isAbsolute(prefix)))] as string[];
}

function sitePackages(fs: FileSystem, prefix: string): readonly string[] {
  const libraries = ["lib", "lib64"].flatMap((lib) =>
    listFolder(fs, join(prefix, lib))
      .filter((name) => /^python3(\.\d+)?t?$/.test(name))
      .map((name) => join(prefix, lib, name)),
  );
  const folders = libraries.flatMap((path) => [join(path, "site-packages"), join(path, "dist-packages")]);
  return [...folders, join(prefix, "Lib", "site-packages")].map((path) => realPath(fs, path));
}

/** What `*.pth`, `*.egg-link` and the finders of editable installs name. Their code is read, not run. */
function editablesOf(fs: FileSystem, site: string): readonly string[] {
  return listFolder(fs, site)
    .slice(0, entriesMax)
    .flatMap((name) => {
      if (/\.(pth|egg-link)$/.test(name)) return linesOf(fs, join(site, name)).map((line) => resolve(site, line));
      if (/^_.*(finder|_editable.*)\.py$/.test(name)) return stringsOf(textAt(fs, join(site, name)));
      return [];
    });
}

function linesOf(fs: FileSystem, path: string): readonly string[] {
  // Code and comments name no path that exists.
  const lines = textAt(fs, path)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return path.endsWith(".egg-link") ? lines.slice(0, 1) : lines;
}

/** Absolute paths in quotes. */
function stringsOf(text: string): readonly string[] {
  const found = [...text.matchAll(/'((?:\/|[A-Za-z]:)[^'\n]*)'|"((?:\/|[A-Za-z]:)[^"\n]*)"/g)];
  return found.map(([, single, double]) => single ?? double ?? "");
}

function textAt(fs: FileSystem, path: string): string {
  const read = readBounded(fs, path, textBytesMax);
  return read.kind === "file" ? read.bytes.toString("utf8") : "";
}
