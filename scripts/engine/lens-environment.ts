/**
 * Whether the tree a run made for itself is one for programs too: what is looked up from it must not be found in the
 * main checkout's sources, or a green command speaks of another tree than the one that is delivered.
 */
import { join, relative } from "node:path";
import { readBounded } from "../platform/files.ts";
import { isWithin } from "../platform/find-tool.ts";
import type { FileSystem } from "../platform/fs.ts";
import { foundAbove, type Lead, packagesLeadOut, type TreePair, treePair } from "../platform/look-ups.ts";
import { pytestRoot } from "../platform/pytest-root.ts";
import { type Environment, editableSources, pythonPathLeadsOut } from "../platform/python-look-ups.ts";
import { failed, type LensAnswer, ran, skipped } from "../verify/lens.ts";
import { userTree } from "./effects.ts";
import type { LensInput } from "./lens-input.ts";

/** What wraps another program: where no test runner was made out, it may be any. */
const wrappers = /(^|[\s;&|(=/"'])((make|just|task|sh|bash|zsh|tox|nox)(?![\w-])|\.\/[\w-])/;
const calls = (names: string) => new RegExp(`(^|[\\s;&|(=/"'])(${names})(?![\\w-])`);
const callsNode = calls(
  "npm|npx|pnpm|yarn|bun|bunx|node|node-test|deno|vitest|jest|mocha|ava|playwright|turbo|nx|lerna",
);
const callsPython = calls("python[\\d.]*|py\\.test|pytest|unittest|tox|nox|uv|poetry|pdm|hatch|pipenv|rye|coverage");
const callsGo = calls("go|gotestsum");

export function environmentOf({ engine, loaded, packet, root, measured }: LensInput): LensAnswer {
  if (!loaded.state.isolated || root === userTree(loaded)) return skipped("the user's own tree");
  const runners = measured.tests.runners.join(" ");
  const command = `${packet.setup_cmd ?? ""}\n${packet.verify_cmd}`;
  const pair = treePair(engine.fs, root, userTree(loaded));
  const leads = leadsOut(engine.fs, pair, engine.environment, command, runners);
  return leads.length === 0 ? ran([]) : failed(leads.join("; "));
}

/** Every lead out of the tree that the command could follow. `runners`: those made out in it, empty where none was. */
export function leadsOut(
  fs: FileSystem,
  pair: TreePair,
  environment: Environment,
  command: string,
  runners: string,
): readonly Lead[] {
  const leads: Lead[] = [];
  const mayBeAny = runners === "" && wrappers.test(command);
  const may = (program: RegExp) => mayBeAny || program.test(command) || program.test(runners);
  if (may(callsNode)) {
    if (foundAbove(fs, pair, "package.json")) leads.push("npm finds the main checkout's package.json");
    if (packagesLeadOut(fs, pair)) leads.push("node finds the main checkout's own packages through node_modules");
  }
  if (may(callsGo) && foundAbove(fs, pair, "go.work")) leads.push("go finds the main checkout's go.work");
  if (!may(callsPython)) return leads;
  if (pythonPathLeadsOut(fs, pair, environment)) leads.push("PYTHONPATH leads into the main checkout");
  const editable = editableSources(fs, pair, environment, command);
  if (editable.some((path) => !comesFirst(fs, pair, path, command))) {
    leads.push("an editable install leads into the main checkout");
  }
  const rooted = pytestRoot(fs, pair.tree);
  if (may(/pytest|py\.test/) && isWithin(rooted, [pair.main]) && !isWithin(rooted, [pair.tree])) {
    leads.push("pytest takes the main checkout for its root");
  }
  return leads;
}

/** Whether python looks in the tree before it looks where an install of `path` points. */
function comesFirst(fs: FileSystem, { tree, main }: TreePair, path: string, command: string): boolean {
  // `uv run` makes an environment of the tree's own.
  if (/(^|\s)(uv run|uvx|tox|nox|hatch)\b/.test(command) && !/--active/.test(command)) return true;
  if (/(^|\s)PYTHONPATH=[^/\s]/.test(command)) return true;
  if (/(^|\s)python[\d.]* -m /.test(command) && relative(main, path) === "") return true;
  const settings = ["pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg"].map((name) => {
    const read = readBounded(fs, join(tree, name), 256 * 1024);
    return read.kind === "file" ? read.bytes.toString("utf8") : "";
  });
  return /pytest/.test(command) && settings.some((text) => /^\s*pythonpath\s*=/m.test(text));
}
