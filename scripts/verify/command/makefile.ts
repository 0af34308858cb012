/** Reads a makefile's rules and plain variables. Nothing is run; what depends on a condition is said to. */

export interface Rule {
  readonly prerequisites: readonly string[];
  readonly recipe: readonly string[];
  /** It stands in an `ifeq` or is made by a `define`: whether it counts is not known. */
  readonly isConditional: boolean;
}

export interface Makefile {
  readonly rules: ReadonlyMap<string, Rule>;
  readonly patterns: readonly { readonly pattern: string; readonly rule: Rule }[];
  readonly first: string | null;
  readonly isOneShell: boolean;
  readonly includes: boolean;
  readonly variables: ReadonlyMap<string, string>;
  readonly budget: Budget;
  /** More stands in it than was taken. */
  readonly isCut: boolean;
}

const expandedCharsMax = 64 * 1024;
const valueCharsMax = 2048;
const targetsMax = 64;
const prerequisitesMax = 512;
const patternsMax = 64;

export function readMakefile(text: string, given: ReadonlyMap<string, string> = new Map()): Makefile {
  const variables = new Map<string, string>();
  const budget = { left: expandedCharsMax };
  const rules = new Map<string, { prerequisites: string[]; recipe: string[]; isConditional: boolean }>();
  const patterns: { pattern: string; rule: Rule }[] = [];
  let current: { prerequisites: string[]; recipe: string[]; isConditional: boolean }[] = [];
  let first: string | null = null;
  let conditions = 0;
  let inDefine = false;
  let includes = false;
  let isOneShell = false;
  let isCut = false;
  for (const line of logicalLines(text)) {
    if (inDefine) {
      if (/^\s*endef\b/.test(line)) inDefine = false;
      continue;
    }
    if (line.startsWith("\t")) {
      for (const rule of current) rule.recipe.push(line.slice(1));
      continue;
    }
    const bare = withoutComment(line);
    if (bare.trim() === "") continue;
    if (/^ *define\b/.test(bare)) inDefine = true;
    else if (/^ *(ifeq|ifneq|ifdef|ifndef)\b/.test(bare)) conditions += 1;
    else if (/^ *endif\b/.test(bare)) conditions = Math.max(0, conditions - 1);
    else if (/^ *[-s]?include\b/.test(bare)) includes = true;
    else if (!/^ *(else|export|unexport|override|vpath|undefine|private)\b[^:=]*$/.test(bare)) {
      const assigned = /^ *(?:(?:export|override|private) +)*([^\s:#=+?!]+) *(:::?=|::?=|\?=|\+=|!=|=)(.*)$/.exec(bare);
      const name = assigned?.[1];
      if (name !== undefined) {
        current = [];
        const value = (assigned?.[3] ?? "").trim();
        const before = variables.get(name);
        const operator = assigned?.[2] ?? "";
        const isUnknown = conditions > 0 || operator === "!=";
        const joined = operator === "+=" && before !== undefined ? `${before} ${value}` : value;
        if (operator === "?=" && before !== undefined) continue;
        variables.set(name, isUnknown ? `$(unknown-${name})` : joined.slice(0, valueCharsMax));
        continue;
      }
      const rule = /^([^:=]+)::?(?!=)(.*)$/.exec(bare);
      if (rule === null) continue;
      const [head, command] = cutOnce(rule[2] ?? "", ";");
      // `test: NAME = value` sets a variable for the target.
      if (/^\s*(?:(?:export|override|private)\s+)*[^\s:#=+?!]+\s*(:::?=|::?=|\?=|\+=|!=|=)/.test(head)) {
        current = [];
        continue;
      }
      const names = (all: string, most: number) => {
        const found = expandWith(all, { variables, given, budget })
          .split(/\s+/)
          .filter((one) => one !== "");
        if (found.length > most) isCut = true;
        return found.slice(0, most);
      };
      const prerequisites = names(head.replace("|", " "), prerequisitesMax);
      current = names(rule[1] ?? "", targetsMax).map((target) => {
        const made = rules.get(target) ?? { prerequisites: [], recipe: [], isConditional: false };
        made.prerequisites.push(...prerequisites);
        if (command !== null) made.recipe.push(command);
        if (conditions > 0) made.isConditional = true;
        if (target === ".ONESHELL") isOneShell = true;
        if (target.includes("%")) {
          if (patterns.length < patternsMax) patterns.push({ pattern: target, rule: made });
          else isCut = true;
        } else {
          if (first === null && !target.startsWith(".")) first = target;
          rules.set(target, made);
        }
        return made;
      });
    }
  }
  return { rules, patterns, first, isOneShell, includes, variables, budget, isCut };
}

/** Makefile text with its plain variables put in; what is not known stays, so that a shell's reader sees a variable. */
export function expand(text: string, makefile: Makefile, given: ReadonlyMap<string, string>, target: string): string {
  return expandWith(text, { variables: makefile.variables, given, target, budget: makefile.budget });
}

interface Known {
  readonly variables: ReadonlyMap<string, string>;
  readonly given: ReadonlyMap<string, string>;
  readonly target?: string;
  readonly budget: Budget;
}

/** What all expanding of one makefile may still make, so that variables within variables stay cheap. */
export interface Budget {
  left: number;
}

function expandWith(text: string, known: Known, depth = 0): string {
  const { budget } = known;
  return text.replace(/\$(?:\$|\(([\w.-]+)\)|\{([\w.-]+)\}|@)/g, (whole, round?: string, curly?: string) => {
    if (whole === "$$") return "$";
    if (whole === "$@") return known.target ?? whole;
    const name = round ?? curly ?? "";
    if (name === "MAKE") return "make";
    if (name === "CURDIR") return ".";
    const value = known.given.get(name) ?? known.variables.get(name);
    if (value === undefined || depth > 4 || value.length > budget.left) return `\${${name}}`;
    budget.left -= value.length + 1;
    return expandWith(value, known, depth + 1);
  });
}

/** Lines with their continuations; in a recipe the continuation is the shell's and stays. */
function* logicalLines(text: string): Generator<string> {
  let joined = "";
  for (const line of text.split(/\r?\n/)) {
    const isRecipe = (joined === "" ? line : joined).startsWith("\t");
    const continues = /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
    if (continues) joined += isRecipe ? `${line}\n` : `${line.slice(0, -1)} `;
    else {
      yield joined + line;
      joined = "";
    }
  }
  if (joined !== "") yield joined;
}

function withoutComment(line: string): string {
  const at = line.search(/(?:^|[^\\])#/);
  if (at < 0) return line;
  return line[at] === "#" ? line.slice(0, at) : line.slice(0, at + 1);
}

function cutOnce(text: string, at: string): readonly [string, string | null] {
  const index = text.indexOf(at);
  return index < 0 ? [text, null] : [text.slice(0, index), text.slice(index + 1)];
}
