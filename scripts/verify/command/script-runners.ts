/** Tools that run scripts or commands by name: several of one package, or one of every package of a workspace. */
import { apart, type Following, inFolder, inside, type Place } from "./following.ts";
import { type Manifest, manifestIn, nearestManifest, readJson, readJsonc, record, textsOf } from "./manifests.ts";
import { followScript } from "./package-managers.ts";
import type { Word } from "./shell-reader.ts";
import { namedMembers, workspaceMembers } from "./workspaces.ts";

const scriptLists = new Set(["npm-run-all", "npm-run-all2", "run-s", "run-p"]);

/** False: the program is none of them. */
export function followScriptRunner(following: Following, words: readonly Word[], place: Place): boolean {
  const [program, ...rest] = words;
  const name = program?.text ?? "";
  const [first] = rest;
  if (scriptLists.has(name)) followList(following, rest, place);
  else if (name === "concurrently") followConcurrently(following, rest, place);
  else if (name === "turbo" || name === "lerna") followTasks(following, name, rest, place);
  else if (name === "nx") followNx(following, rest, place);
  else if (name === "composer") followComposer(following, rest, place);
  else if (name === "deno" && first?.text === "task") followDenoTask(following, rest[1], place);
  else if (name === "tox") followTox(following, place);
  else if (name === "nox") following.fault("nox");
  else return false;
  return true;
}

function manifestAt(following: Following, place: Place): Manifest | null {
  if (place.cwd === null) following.fault("unknown-folder");
  const found = place.cwd === null ? null : nearestManifest(following.look, place.cwd);
  if (found === null && place.cwd !== null) following.fault("no-manifest");
  return found;
}

function followNamed(following: Following, manifest: Manifest, pattern: string, place: Place): void {
  const names = Object.keys(manifest.scripts).filter((name) => matches(pattern, name));
  if (names.length === 0) following.fault("no-script");
  for (const name of names) followScript(following, "npm", manifest, name, [], place);
}

/** `*` stands for one part of a script's name between colons, `**` for all that follows. */
function matches(pattern: string, name: string): boolean {
  if (!pattern.includes("*")) return pattern === name;
  const [wanted, given] = [pattern.split(":"), name.split(":")];
  return (
    wanted.every(
      (part, index) => part === "**" || (part === "*" ? given[index] !== undefined : part === given[index]),
    ) &&
    (wanted.at(-1) === "**" || wanted.length === given.length)
  );
}

function followList(following: Following, words: readonly Word[], place: Place): void {
  const manifest = manifestAt(following, place);
  const valued = new Set(["--max-parallel", "--npm-path"]);
  for (const [index, { text, isLiteral }] of words.entries()) {
    if (text === "--") return;
    if (text.startsWith("-") || valued.has(words[index - 1]?.text ?? "") || manifest === null) continue;
    if (isLiteral) followNamed(following, manifest, text.split(" ")[0] ?? "", place);
    else following.fault("variable");
  }
}

function followConcurrently(following: Following, words: readonly Word[], place: Place): void {
  const valued = new Set(
    "-n --names -c --prefix-colors -p --prefix -m --max-processes --restart-tries -s --success".split(" "),
  );
  for (const [index, { text, isLiteral }] of words.entries()) {
    if (text.startsWith("-") || valued.has(words[index - 1]?.text ?? "")) continue;
    const script = /^(?:npm|pnpm|yarn|bun):(.+)$/.exec(text)?.[1];
    const manifest = script === undefined ? null : manifestAt(following, place);
    if (!isLiteral) following.fault("variable");
    else if (script === undefined) following.text(text, { ...place, depth: place.depth + 1 });
    else if (manifest !== null) followNamed(following, manifest, script, place);
  }
}

function followTasks(following: Following, tool: "turbo" | "lerna", words: readonly Word[], place: Place): void {
  const filters: Word[] = [];
  const names: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as Word;
    const [option = "", ...value] = word.text.split("=");
    if (word.text === "--") break;
    if (/^(--filter|-F|--scope)$/.test(option)) {
      const filter = word.text.includes("=") ? { ...word, text: value.join("=") } : words[at + 1];
      if (!word.text.includes("=")) at += 1;
      if (filter !== undefined) filters.push(filter);
    } else if (/^(--affected|--since|--ignore)$/.test(option)) following.fault("workspaces");
    else if (/^(--concurrency|--cache-dir|--env-mode|--output-logs|--log-order|--ui)$/.test(word.text)) at += 1;
    else if (!word.text.startsWith("-")) names.push(word.text);
  }
  const tasks = names[0] === "run" ? names.slice(1) : tool === "turbo" ? names : [];
  if (place.cwd === null) {
    following.fault("unknown-folder");
    return;
  }
  const manifests =
    filters.length > 0
      ? namedMembers(following, place.cwd, filters)
      : (workspaceMembers(following, place.cwd)?.manifests ?? null);
  for (const manifest of manifests ?? []) {
    for (const task of tasks) {
      if (Object.hasOwn(manifest.scripts, task)) followScript(following, "npm", manifest, task, [], apart(place, "-"));
    }
  }
}

const nxExecutors: readonly (readonly [RegExp, "jest" | "vitest" | "playwright"])[] = [
  [/^@nx\/jest:|^@nrwl\/jest:/, "jest"],
  [/^@nx\/(vite|vitest):test|^@nxext\/vitest:/, "vitest"],
  [/^@nx\/playwright:/, "playwright"],
];

/** Nx makes targets out of plugins too; only what a project's own files say is followed. */
function followNx(following: Following, words: readonly Word[], place: Place): void {
  const [sub, project] = words.filter(({ text }) => !text.startsWith("-"));
  if (place.cwd === null || sub === undefined) {
    following.fault("nx");
    return;
  }
  const many = sub.text === "run-many" || sub.text === "affected";
  const option = words.findIndex(({ text }) => /^(-t|--targets?)$/.test(text));
  const joined = words.map(({ text }) => /^(?:-t|--targets?)=(.+)$/.exec(text)?.[1]).find((one) => one !== undefined);
  const run = sub.text === "run" ? (project?.text ?? "").split(":") : null;
  const target = many ? (joined ?? words[option + 1]?.text ?? "") : (run?.[1] ?? sub.text);
  const name = run === null ? (project?.text ?? "") : (run[0] ?? "");
  const members = workspaceMembers(following, place.cwd);
  const chosen = (members?.manifests ?? []).filter(
    (one) => many || one.name === name || one.folder.endsWith(`/${name}`),
  );
  let found = false;
  for (const manifest of chosen) {
    const targets = record(readJson(following.look(inFolder(manifest.folder, "project.json")))?.targets);
    const executor = record(targets?.[target])?.executor;
    const known = nxExecutors.find(([shape]) => typeof executor === "string" && shape.test(executor));
    if (known !== undefined) following.begin(known[1], [], { ...place, cwd: manifest.folder });
    else if (Object.hasOwn(manifest.scripts, target)) followScript(following, "npm", manifest, target, [], place);
    else continue;
    found = true;
  }
  if (!found) following.fault("nx");
}

function followComposer(following: Following, words: readonly Word[], from: Place): void {
  const [sub, second] = words.filter(({ text }) => !text.startsWith("-"));
  const name = sub?.text === "run" || sub?.text === "run-script" || sub?.text === "exec" ? second?.text : sub?.text;
  if (from.cwd === null || name === undefined) {
    following.fault("unknown-folder");
    return;
  }
  if (sub?.text === "exec" && second !== undefined) {
    following.program([second], from);
    return;
  }
  const scripts = record(readJson(following.look(inFolder(from.cwd, "composer.json")))?.scripts);
  const script = scripts !== null && Object.hasOwn(scripts, name) ? scripts[name] : undefined;
  if (script === undefined) {
    if (!/^(install|update|require|dump-autoload|validate|audit)$/.test(name)) following.fault("no-script");
    return;
  }
  const place = inside(following, from, `composer ${from.cwd} ${name}`);
  if (place === null) return;
  for (const line of Array.isArray(script) ? script : [script]) {
    if (typeof line !== "string") continue;
    const other = /^@([\w:.-]+)(.*)$/s.exec(line);
    if (other === null) following.text(line, place);
    else if (other[1] === "php") following.text(`php${other[2] ?? ""}`, place);
    else if (other[1] === "putenv") continue;
    else followComposer(following, [{ text: other[1] ?? "", raw: other[1] ?? "", isLiteral: true }], place);
  }
}

function followDenoTask(following: Following, task: Word | undefined, from: Place): void {
  if (from.cwd === null || task === undefined) {
    following.fault("unknown-folder");
    return;
  }
  const { look } = following;
  const text = look(inFolder(from.cwd, "deno.json")) ?? look(inFolder(from.cwd, "deno.jsonc"));
  const tasks = record(readJsonc(text)?.tasks);
  const found = tasks !== null && Object.hasOwn(tasks, task.text) ? tasks[task.text] : undefined;
  const command = typeof found === "string" ? found : record(found)?.command;
  const script = manifestIn(look, from.cwd)?.scripts ?? textsOf(null);
  const place = inside(following, from, `task ${from.cwd} ${task.text}`);
  if (place === null) return;
  if (typeof command === "string") following.text(command, place);
  else if (Object.hasOwn(script, task.text)) following.text(script[task.text] ?? "", place);
  else following.fault("no-script");
}

/** Only a tox.ini with one environment and commands without substitutions is followed. */
function followTox(following: Following, from: Place): void {
  const text = from.cwd === null ? null : following.look(inFolder(from.cwd, "tox.ini"));
  if (text === null || /^\[testenv:/m.test(text)) {
    following.fault("tox");
    return;
  }
  const section = /^\[testenv\][ \t]*\r?\n([\s\S]*)/m.exec(text)?.[1]?.split(/^\[/m)[0];
  const commands = section?.split(/^commands[ \t]*=/m)[1]?.split(/^\S/m)[0];
  const plain = commands?.replace(/\{posargs(:[^{}]*)?\}/g, "");
  // Tox hands on only the variables it is told to.
  const place = inside(following, apart(from, "-"), `tox ${from.cwd}`);
  if (place === null) return;
  if (plain === undefined || plain.trim() === "" || /[{}]/.test(plain)) {
    following.fault("tox");
    return;
  }
  for (const line of plain.split("\n")) following.text(line.replace(/^\s*-?\s*/, ""), place);
}
