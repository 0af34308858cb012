/** Programs that run the rest of their arguments as a command. */
import { apart, type Following, literal, moved, type Place } from "./following.ts";
import { isAssignment, type Word } from "./shell-reader.ts";

interface Wrapper {
  /** Options whose value is the next word. */
  readonly valued?: string;
  /** Options that change what is run in ways not followed here. */
  readonly refused?: string;
  readonly takesAssignments?: boolean;
  /** Words of its own between its options and the command. */
  readonly operands?: number;
  /** Options with which the environment does not reach the command as it was. */
  readonly isApart?: RegExp;
}

const coverage: Wrapper = {
  valued:
    "-r --reporter -x --exclude -n --include -o --reports-dir --report-dir --temp-directory --temp-dir --src -e --extension --lines --branches --functions --statements -c --config --nycrc-path --cwd",
};

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: { valued: "-u --unset", refused: "-C --chdir -S --split-string", takesAssignments: true, isApart: /./ },
  time: { valued: "-f -o --format --output" },
  nice: { valued: "-n --adjustment" },
  ionice: { valued: "-c -n --class --classdata" },
  nohup: {},
  setsid: {},
  exec: { valued: "-a" },
  command: { refused: "-v -V" },
  stdbuf: { valued: "-i -o -e --input --output --error" },
  timeout: { valued: "-s -k --signal --kill-after", operands: 1 },
  "xvfb-run": { valued: "-n -s -e -f -p -w --server-num --server-args --error-file --auth-file --xauth-protocol" },
  "cross-env": { takesAssignments: true },
  "cross-env-shell": { takesAssignments: true },
  dotenv: { valued: "-e -v -p", isApart: /(^| )(-o|--override)/ },
  "env-cmd": { valued: "-f --file -e --environments -r --rc-file", isApart: /(?:)/ },
  c8: coverage,
  nyc: coverage,
};

/** Wrappers that are two words: a program and its sub-command. */
const runs: Readonly<Record<string, Wrapper>> = {
  "bundle exec": {},
  "poetry run": {},
  "pipenv run": {},
  "pdm run": {},
  "rye run": {},
  "mise exec": {},
  "uv run": {
    valued:
      "--with --with-requirements --with-editable --extra --group --no-group --only-group -p --python --env-file --index --index-url --default-index --extra-index-url --find-links --package",
    refused: "--directory --project -s --script",
  },
  "coverage run": { valued: "--source --rcfile --omit --include --data-file --concurrency --context" },
};

const executors: Readonly<Record<string, Wrapper>> = {
  npx: { valued: "-p --package -w --workspace --cache --registry" },
  bunx: { valued: "-p --package" },
  uvx: { valued: "--from --with -p --python --index-url" },
};

/** Follows a wrapper's command. False: the program is none. */
export function followWrapper(following: Following, words: readonly Word[], place: Place): boolean {
  const [program, second] = words;
  if (program === undefined) return false;
  const executor = executors[own(executors, program.text)];
  if (executor !== undefined) {
    followExecutor(following, words.slice(1), place, executor);
    return true;
  }
  const wrapper = wrappers[own(wrappers, program.text)];
  if (wrapper !== undefined) {
    follow(following, words.slice(1), place, wrapper);
    return true;
  }
  const two = second === undefined ? "" : `${program.text} ${second.text}`;
  const run = runs[own(runs, two)];
  if (run === undefined) return false;
  const rest = words.slice(2);
  if (two === "coverage run" || two === "uv run") followPythonRun(following, rest, place, run, two === "coverage run");
  else follow(following, rest, place, run);
  return true;
}

/** The rest of `npx`, `npm exec` and their like: `-c TEXT`, or a package's own program. */
export function followExecutor(
  following: Following,
  words: readonly Word[],
  place: Place,
  wrapper: Wrapper = executors.npx ?? {},
): void {
  const call = words.findIndex(({ text }) => text === "-c" || text === "--call");
  const rest = afterOptions(words, wrapper);
  if (call >= 0 && (rest === null || call < words.length - rest.length || call === 0)) {
    const text = words[call + 1];
    if (text?.isLiteral === true) following.text(text.text, place);
    else following.fault("variable");
    return;
  }
  const [program, ...more] = rest ?? [];
  if (rest === null || program === undefined) {
    following.fault("unknown-option");
    return;
  }
  const name = program.text.replace(/(?!^)@[^/]*$/, "").replace(/^@playwright\/test$/, "playwright");
  following.program([program.isLiteral ? literal(name) : program, ...more], place);
}

function follow(following: Following, words: readonly Word[], from: Place, wrapper: Wrapper): void {
  const rest = afterOptions(words, wrapper);
  if (rest === null) {
    following.fault("unknown-option");
    return;
  }
  const options = words.slice(0, words.length - rest.length);
  const place = wrapper.isApart?.test(options.map(({ text }) => text).join(" ")) === true ? apart(from, "-") : from;
  const behind = rest.slice(wrapper.operands ?? 0);
  if (wrapper.takesAssignments !== true) {
    following.program(behind, place);
    return;
  }
  const first = behind.findIndex(({ raw }) => !isAssignment(raw));
  const cut = first < 0 ? behind.length : first;
  const assignments = [...place.assignments, ...behind.slice(0, cut)];
  following.program(behind.slice(cut), { ...place, assignments });
}

/** `coverage run -m pytest`, `uv run -m pytest`, `uv run pytest`. */
function followPythonRun(
  following: Following,
  words: readonly Word[],
  place: Place,
  wrapper: Wrapper,
  isScript: boolean,
): void {
  const module = words.findIndex(({ text }) => text === "-m" || text === "--module");
  const rest = afterOptions(words, wrapper);
  if (rest === null) {
    following.fault("unknown-option");
    return;
  }
  const isModule = module >= 0 && module <= words.length - rest.length;
  if (isModule) following.program([literal("python"), literal("-m"), ...words.slice(module + 1)], place);
  else if (isScript) following.program([literal("python"), ...rest], place);
  else following.program(rest, place);
}

/** Null: an option that is not followed stands among them. */
export function afterOptions(words: readonly Word[], wrapper: Wrapper): readonly Word[] | null {
  const valued = new Set((wrapper.valued ?? "").split(" "));
  const refused = new Set((wrapper.refused ?? "").split(" "));
  let at = 0;
  for (; at < words.length; at += 1) {
    const text = words[at]?.text ?? "";
    if (text === "--") return words.slice(at + 1);
    if (!text.startsWith("-") || text === "-") break;
    if (refused.has(text.split("=")[0] ?? "")) return null;
    if (valued.has(text)) at += 1;
  }
  return words.slice(at);
}

const shells = new Set(["sh", "bash", "dash", "zsh", "ksh"]);

/** `sh -c TEXT`, or a shell script of the tree. False: the program is no shell. */
export function followShell(following: Following, words: readonly Word[], place: Place): boolean {
  const [program] = words;
  if (program === undefined || !shells.has(program.text.replace(/^\/(usr\/)?bin\//, ""))) return false;
  let at = 1;
  let isText = false;
  for (; at < words.length && /^[-+][A-Za-z-]+$/.test(words[at]?.text ?? ""); at += 1) {
    const text = words[at]?.text ?? "";
    if (/^-[a-z]*c[a-z]*$/.test(text)) isText = true;
    if (/^[-+][a-z]*o$/.test(text)) at += 1;
  }
  const word = words[at];
  if (word === undefined || !word.isLiteral) following.fault("variable");
  else if (isText) following.text(word.text, { ...place, depth: place.depth + 1 });
  else followScriptFile(following, word, place, true);
  return true;
}

/** A shell script of the tree. False: there is none of that name, or it is none. */
export function followScriptFile(following: Following, word: Word, place: Place, isShell: boolean): boolean {
  const target = place.cwd === null ? null : moved({ ...following, fault: () => {} }, place, word).cwd;
  const source = target === null ? null : following.look(target);
  if (source === null || (!isShell && !/^#!\s*\/\S*\/(env\s+)?(sh|bash|dash|zsh|ksh)\b/.test(source))) {
    if (isShell) following.fault("unknown-program");
    return false;
  }
  if (place.trail.includes(`file ${target}`)) following.fault("circle");
  else following.text(source, { ...place, depth: place.depth + 1, trail: [...place.trail, `file ${target}`] });
  return true;
}

/** A key the table has itself, or one no table has. */
function own(table: object, key: string): string {
  return Object.hasOwn(table, key) ? key : "";
}
