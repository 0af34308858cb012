/** Which folder pytest takes for its root when it is run in a tree: from it on down `conftest.py` is loaded. */
import { dirname, join } from "node:path";
import { readBounded } from "./files.ts";
import type { FileSystem } from "./fs.ts";
import { isFileAt } from "./look-ups.ts";

const textBytesMax = 256 * 1024;
const levelsMax = 64;

/** As pytest does: the nearest folder with a file that holds its settings, else the nearest with a `setup.py`, else the tree. */
export function pytestRoot(fs: FileSystem, tree: string): string {
  const chain = [tree];
  for (let at = tree; dirname(at) !== at && chain.length < levelsMax; at = dirname(at)) chain.push(dirname(at));
  return (
    chain.find((folder) => hasSettings(fs, folder)) ??
    chain.find((folder) => isFileAt(fs, join(folder, "setup.py"))) ??
    chain.find((folder) => isFileAt(fs, join(folder, "pyproject.toml"))) ??
    tree
  );
}

function hasSettings(fs: FileSystem, folder: string): boolean {
  if (["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"].some((name) => isFileAt(fs, join(folder, name)))) {
    return true;
  }
  const has = (name: string, section: RegExp) => section.test(textAt(fs, join(folder, name)));
  return (
    has("pyproject.toml", /^\s*\[tool\.pytest(\.ini_options)?\]/m) ||
    has("tox.ini", /^\[pytest\]/m) ||
    has("setup.cfg", /^\[tool:pytest\]/m)
  );
}

function textAt(fs: FileSystem, path: string): string {
  const read = readBounded(fs, path, textBytesMax);
  return read.kind === "file" ? read.bytes.toString("utf8") : "";
}
