/** npm, pnpm, yarn and bun: from their arguments to the scripts of a manifest. */
import { apart, type Following, inFolder, inside, moved, type Place } from "./following.ts";
import { type Manifest, nearestManifest, scriptOf } from "./manifests.ts";
import type { Word } from "./shell-reader.ts";
import { namedMembers, workspaceMembers } from "./workspaces.ts";
import { followExecutor } from "./wrappers.ts";

type Manager = "npm" | "pnpm" | "yarn" | "bun";
const managers: ReadonlySet<string> = new Set<Manager>(["npm", "pnpm", "yarn", "bun"]);

const valued: Readonly<Record<Manager, ReadonlySet<string>>> = {
  npm: new Set("--loglevel --cache --registry --userconfig --script-shell --node-options --omit --include".split(" ")),
  pnpm: new Set(
    "--loglevel --reporter --workspace-concurrency --store-dir --config --changed-files-ignore-pattern".split(" "),
  ),
  yarn: new Set("--registry --mutex --network-timeout --cache-folder --use-yarnrc -j --jobs --exclude".split(" ")),
  bun: new Set("--config -c --env-file --loader".split(" ")),
};
const folderOptions = new Set(["--prefix", "-C", "--dir", "--cwd"]);
const memberOptions = new Set(["-w", "--workspace", "--filter", "-F"]);
/** Ways of saying "test" and "run" to npm. */
const testWords = new Set(["t", "tst", "test", "it", "cit", "install-test", "install-ci-test"]);
const runWords = new Set(["run", "run-script", "rum", "urn"]);
const ownScripts = new Set(["start", "stop", "restart"]);
const executorWords = new Set(["exec", "x", "dlx"]);
const ownCommands = new Set(
  (
    "install i ci clean-install add remove rm uninstall update up upgrade audit ls list why outdated dedupe prune " +
    "rebuild pack publish version link unlink cache config set get init create info view login whoami import fetch " +
    "store patch setup env root bin help ping doctor fund approve-builds plugin constraints --version -v --help"
  ).split(" "),
);

interface Order {
  readonly words: readonly Word[];
  readonly args: readonly Word[];
  readonly place: Place;
  /** Every member, those named, or the package itself. */
  readonly members: "all" | readonly Word[] | null;
  readonly toRoot: boolean;
  readonly withRoot: boolean;
}

/** False: the program is no package manager. */
export function followPackageManager(following: Following, words: readonly Word[], place: Place): boolean {
  const name = (words[0]?.text ?? "").replace(/^corepack$/, "");
  if (!managers.has(name)) return false;
  const manager = name as Manager;
  const order = orderOf(following, manager, words.slice(1), place);
  const [sub, ...rest] = order.words;
  if (sub === undefined) return true;
  if (executorWords.has(sub.text) || (manager === "npm" && sub.text === "npx")) {
    followExecutor(following, [...rest, ...order.args], order.place);
  } else if (manager === "bun" && sub.text === "test") following.begin("bun", [...rest, ...order.args], order.place);
  else if (manager === "yarn" && sub.text === "workspace") {
    const [member, second] = rest;
    const behind = rest.slice(second?.text === "run" ? 2 : 1);
    if (member === undefined) following.fault("workspaces");
    else runScript(following, manager, behind, { ...order, members: [member] });
  } else if (manager === "yarn" && sub.text === "workspaces") {
    const behind = rest.filter(({ text }) => text !== "foreach" && text !== "run");
    runScript(following, manager, behind, { ...order, members: "all" });
  } else if (manager !== "yarn" && manager !== "bun" && testWords.has(sub.text)) {
    runScript(following, manager, [{ text: "test", raw: "test", isLiteral: true }, ...rest], order);
  } else if (runWords.has(sub.text)) runScript(following, manager, rest, order);
  else if (sub.text === "test" || ownScripts.has(sub.text)) runScript(following, manager, order.words, order);
  else if (!ownCommands.has(sub.text)) {
    // pnpm, yarn and bun take a script's or a program's name without "run".
    if (manager === "npm") following.fault("unknown-option");
    else runScript(following, manager, order.words, order, true);
  }
  return true;
}

function orderOf(following: Following, manager: Manager, given: readonly Word[], from: Place): Order {
  const words: Word[] = [];
  const members: Word[] = [];
  let place = from;
  let all = false;
  let toRoot = false;
  let withRoot = false;
  let at = 0;
  // Behind a script's name every word is the script's, but for npm, which still takes its own options there.
  const isDone = () => {
    const named = words.filter(({ text }) => text !== "foreach" && text !== "workspaces");
    // `yarn workspace NAME` takes a script's name too.
    const skipped = named[0]?.text === "workspace" ? 2 : 0;
    const verb = named[skipped]?.text ?? "";
    if (executorWords.has(verb)) return true;
    return manager !== "npm" && named.length >= skipped + (runWords.has(verb) ? 2 : 1);
  };
  for (; at < given.length && !isDone(); at += 1) {
    const word = given[at] as Word;
    const [option = "", ...value] = word.text.split("=");
    const isSplit = word.text.includes("=");
    const next = given[at + 1];
    const argument: Word | undefined = isSplit ? { ...word, text: value.join("=") } : next;
    if (word.text === "--") break;
    if (!word.text.startsWith("-")) words.push(word);
    else if (manager === "pnpm" && (option === "-w" || option === "--workspace-root")) toRoot = true;
    else if (manager === "yarn" && option === "-W") toRoot = true;
    else if (folderOptions.has(option) && argument !== undefined) {
      place = moved(following, place, argument);
      if (!isSplit) at += 1;
    } else if (memberOptions.has(option) && argument !== undefined) {
      if (argument.text === "*") all = true;
      else members.push(argument);
      if (!isSplit) at += 1;
    } else if (/^(--workspaces|-ws|--ws|-r|--recursive|-A|--all)$/.test(option)) all = value[0] !== "false" || all;
    else if (/^(--include-workspace-root|-iwr)$/.test(option)) withRoot = true;
    else if (/^(--since|--from|--changed)$/.test(option)) following.fault("workspaces");
    else if (valued[manager].has(option) && !isSplit) at += 1;
  }
  const rest = given.slice(at);
  const args = rest[0]?.text === "--" ? rest.slice(1) : rest;
  return { words, args, place, members: all ? "all" : members.length > 0 ? members : null, toRoot, withRoot };
}

function runScript(
  following: Following,
  manager: Manager,
  [script, ...more]: readonly Word[],
  order: Order,
  orProgram = false,
): void {
  const { place } = order;
  if (script === undefined) return;
  if (!script.isLiteral) {
    following.fault("variable");
    return;
  }
  if (place.cwd === null) {
    following.fault("unknown-folder");
    return;
  }
  const args = [...more, ...order.args];
  const isForMany = order.members !== null;
  for (const manifest of manifestsOf(following, order, place.cwd) ?? []) {
    const text = scriptOf(manifest.scripts, script.text);
    if (text !== null) followScript(following, manager, manifest, script.text, args, place);
    else if (orProgram && !isForMany) following.program([script, ...args], place);
    else if (!isForMany) following.fault("no-script");
  }
}

/** Null, with its fault said: not known. */
function manifestsOf(following: Following, order: Order, cwd: string): readonly Manifest[] | null {
  const { members } = order;
  if (members !== null && members !== "all") return namedMembers(following, cwd, members);
  const known = members === "all" || order.toRoot ? workspaceMembers(following, cwd) : null;
  if ((members === "all" || order.toRoot) && known === null) return null;
  const own = nearestManifest(following.look, known?.root ?? cwd);
  if (own === null) {
    following.fault("no-manifest");
    return null;
  }
  if (members !== "all") return [own];
  return [...(known?.manifests ?? []), ...(order.withRoot ? [own] : [])];
}

/** A script of a manifest with what is run before and after it. */
export function followScript(
  following: Following,
  manager: Manager,
  manifest: Manifest,
  name: string,
  args: readonly Word[],
  from: Place,
): void {
  const { folder, scripts } = manifest;
  // `node-options` of a package manager's settings takes the place of the variable.
  const isSet = /^\s*node[-_]options\s*=/m.test(following.look(inFolder(folder, ".npmrc")) ?? "");
  const at = { ...(isSet ? apart(from, "NODE_OPTIONS") : from), cwd: folder };
  const place = inside(following, at, `script ${folder} ${name}`);
  if (place === null) return;
  const hasHooks = manager !== "yarn" || isFirstYarn(following, folder, manifest);
  const before = hasHooks ? scriptOf(scripts, `pre${name}`) : null;
  const after = hasHooks ? scriptOf(scripts, `post${name}`) : null;
  if (before !== null) following.text(before, place);
  following.text([scriptOf(scripts, name) ?? "", ...args.map(({ raw }) => raw)].join(" "), place);
  if (after !== null) following.text(after, place);
}

/** Yarn runs no pre and post scripts since its second version. */
function isFirstYarn(following: Following, folder: string, { packageManager }: Manifest): boolean {
  if (packageManager.startsWith("yarn@")) return packageManager.startsWith("yarn@1");
  const path = folder === "" ? "yarn.lock" : `${folder}/yarn.lock`;
  return !(following.look(path)?.includes("__metadata:") ?? false);
}
