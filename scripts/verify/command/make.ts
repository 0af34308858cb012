/** `make`: from its targets through prerequisites to recipes. */
import { apart, type Following, inFolder, inside, moved, type Place } from "./following.ts";
import { expand, type Makefile, type Rule, readMakefile } from "./makefile.ts";
import { isAssignment, type Word } from "./shell-reader.ts";

const usualNames = ["GNUmakefile", "makefile", "Makefile"];
const makefileCharsMax = 256 * 1024;
const depthMax = 16;
const reportVariables = new Set(["PYTEST_ADDOPTS", "NODE_OPTIONS", "SPEC_OPTS", "GOFLAGS"]);
const valued = new Set("-I --include-dir -l --load-average -o --old-file -W --what-if -j --jobs --eval -O".split(" "));

interface Making {
  readonly makefile: Makefile;
  readonly given: ReadonlyMap<string, string>;
  readonly done: Set<string>;
}

/** False: the program is no make. */
export function followMake(following: Following, words: readonly Word[], from: Place): boolean {
  const program = words[0]?.text;
  if (program !== "make" && program !== "gmake") return false;
  const given = new Map<string, string>();
  const targets: Word[] = [];
  let place = from;
  let file: Word | null = null;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] as Word;
    const next = words[at + 1];
    const { text } = word;
    if (/^(-n|--dry-run|--just-print|-q|--question|-t|--touch|-v|--version|-h|--help)$/.test(text)) return true;
    const long = /^(--directory|--file|--makefile)=(.*)$/.exec(text) ?? /^(-C|-f)(.+)$/.exec(text);
    const isFolder = /^(-C|--directory)$/.test(long?.[1] ?? text);
    const isFile = /^(-f|--file|--makefile)$/.test(long?.[1] ?? text);
    const argument = long === null ? next : { ...word, text: long[2] ?? "" };
    if ((isFolder || isFile) && argument !== undefined) {
      if (isFolder) place = moved(following, place, argument);
      else file = argument;
      if (long === null) at += 1;
    } else if (/^(-j|--jobs|-l)$/.test(text)) {
      if (/^[0-9.]+$/.test(next?.text ?? "")) at += 1;
    } else if (valued.has(text)) at += 1;
    else if (isAssignment(text) || /^[\w.-]+\s*[:?+]?=/.test(text)) {
      const [, name = "", value = ""] = /^([\w.-]+)\s*[:?+]?=(.*)$/s.exec(text) ?? [];
      given.set(name, word.isLiteral ? value : `$(unknown-${name})`);
    } else if (!text.startsWith("-")) targets.push(word);
  }
  const { cwd } = place;
  if (cwd === null) following.fault("unknown-folder");
  else followTargets(following, targets, given, { ...place, cwd }, file);
  return true;
}

function followTargets(
  following: Following,
  targets: readonly Word[],
  given: ReadonlyMap<string, string>,
  place: Place & { readonly cwd: string },
  file: Word | null,
): void {
  const names = file === null ? usualNames : [file.text];
  const text = names.map((name) => following.look(inFolder(place.cwd, name))).find((found) => found !== null);
  if (text === undefined || text === null) {
    following.fault("no-makefile");
    return;
  }
  if (text.length > makefileCharsMax) {
    following.fault("too-long");
    return;
  }
  const makefile = readMakefile(text, given);
  if (makefile.isCut) following.fault("makefile-syntax");
  const making = { makefile, given, done: new Set<string>() };
  if (targets.some(({ isLiteral }) => !isLiteral)) following.fault("variable");
  const wanted = targets.filter(({ isLiteral }) => isLiteral).map((word) => word.text);
  if (targets.length === 0 && makefile.first !== null) wanted.push(makefile.first);
  if (targets.length === 0 && makefile.first === null) following.fault("no-target");
  // A variable of the environment that a makefile sets is handed on as the makefile sets it.
  const set = [...makefile.variables.keys(), ...given.keys()].filter((name) => reportVariables.has(name));
  const at = set.reduce<Place>(apart, place);
  for (const target of wanted) followTarget(following, making, target, at, true);
}

function followTarget(following: Following, making: Making, target: string, from: Place, isWanted: boolean): void {
  const { makefile, given, done } = making;
  if (done.has(target)) return;
  const rule = makefile.rules.get(target);
  const pattern = rule === undefined || rule.recipe.length === 0 ? patternRule(makefile, target) : undefined;
  const recipe = pattern?.recipe ?? rule?.recipe ?? [];
  if (rule === undefined && pattern === undefined) {
    // A prerequisite without a rule is a file; a wanted target is a mistake, or comes from an included makefile.
    if (isWanted) following.fault("no-target");
    else if (makefile.includes) following.fault("makefile-syntax");
    return;
  }
  if (rule?.isConditional === true) following.fault("makefile-syntax");
  const place = inside(following, from, `target ${from.cwd} ${target}`);
  if (place === null) return;
  if (place.depth > depthMax) {
    following.fault("too-deep");
    return;
  }
  for (const needed of rule?.prerequisites ?? []) {
    if (/[$]/.test(needed)) following.fault("variable");
    else followTarget(following, making, needed, place, false);
  }
  done.add(target);
  const lines = recipe.map((line) => expand(line, makefile, given, target).replace(/^[\s@+-]+/, ""));
  for (const line of makefile.isOneShell ? [lines.join("\n")] : lines) following.text(line, place);
}

function patternRule({ patterns }: Makefile, target: string): Rule | undefined {
  return patterns.find(({ pattern }) => {
    const [head = "", tail = ""] = pattern.split("%");
    return target.length > head.length + tail.length && target.startsWith(head) && target.endsWith(tail);
  })?.rule;
}
