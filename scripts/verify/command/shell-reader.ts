/**
 * Reads shell text into its simple commands, as far as that can be done without running it. Linear in its length;
 * nothing is expanded. What it cannot follow is said in fixed words, and what stands behind it is not read.
 */

export interface Word {
  /** Without its quotes. */
  readonly text: string;
  /** As it stands in the text. */
  readonly raw: string;
  /** False: a variable or a substitution is part of it, so `text` is not what the program gets. */
  readonly isLiteral: boolean;
}

export type ShellStep =
  | {
      readonly kind: "command";
      readonly assignments: readonly Word[];
      readonly words: readonly Word[];
      /** Its `cd` leads nobody else. */
      readonly inPipe: boolean;
    }
  | { readonly kind: "open" }
  | { readonly kind: "close" };

export type ShellFault = "shell-syntax" | "substitution" | "background";

export interface ShellText {
  readonly steps: readonly ShellStep[];
  readonly faults: readonly ShellFault[];
}

type Token = { readonly kind: "word"; readonly word: Word } | { readonly kind: "operator"; readonly text: string };

interface Tokens {
  readonly tokens: readonly Token[];
  readonly isCut: boolean;
}

const keywords = new Set(
  "if then else elif fi for while until do done case esac select function coproc [[ ]]".split(" "),
);
const operators = ["&&", "||", "|&", ";;", "&", ";", "|", "(", ")", "\n"] as const;
const endsWord = new Set([..." \t\r\n;&|()<>"]);

export function readShell(source: string): ShellText {
  const faults = new Set<ShellFault>();
  const { tokens, isCut } = tokensOf(source, faults);
  const steps: ShellStep[] = [];
  let words: Word[] = [];
  let behindPipe = false;
  let open = 0;
  const end = (inPipe: boolean): void => {
    const first = words.findIndex(({ raw }) => !isAssignment(raw));
    const cut = first < 0 ? words.length : first;
    if (words.length > 0) {
      steps.push({ kind: "command", assignments: words.slice(0, cut), words: words.slice(cut), inPipe });
    }
    words = [];
  };
  for (const token of tokens) {
    if (token.kind === "word") {
      const { raw } = token.word;
      if (words.length === 0 && keywords.has(raw)) {
        faults.add("shell-syntax");
        return { steps, faults: [...faults] };
      }
      if (words.length === 0 && raw === "!") faults.add("shell-syntax");
      else if (words.length > 0 || (raw !== "{" && raw !== "}")) words.push(token.word);
      continue;
    }
    const { text } = token;
    if (text === "(") {
      // A word in front of it is a function's name.
      if (words.length > 0) {
        faults.add("shell-syntax");
        return { steps, faults: [...faults] };
      }
      open += 1;
      steps.push({ kind: "open" });
      continue;
    }
    const isPipe = text === "|" || text === "|&";
    if (text === "&") faults.add("background");
    end(isPipe || behindPipe);
    behindPipe = isPipe;
    if (text === ")") {
      if (open === 0) {
        faults.add("shell-syntax");
        return { steps, faults: [...faults] };
      }
      open -= 1;
      steps.push({ kind: "close" });
    }
  }
  // A command that was cut in the middle is not what stands there.
  if (!isCut) end(behindPipe);
  if (open > 0) faults.add("shell-syntax");
  return { steps, faults: [...faults] };
}

export function isAssignment(raw: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(raw);
}

/** The tokens up to the first thing that cannot be read. Redirections are left out with their files. */
function tokensOf(source: string, faults: Set<ShellFault>): Tokens {
  const tokens: Token[] = [];
  let at = 0;
  let afterRedirection = false;
  while (at < source.length) {
    const char = source[at] ?? "";
    if (char === " " || char === "\t" || char === "\r") {
      at += 1;
    } else if (source.startsWith("\\\n", at)) {
      at += 2;
    } else if (char === "#") {
      const newline = source.indexOf("\n", at);
      at = newline < 0 ? source.length : newline;
    } else if (char === "<" || char === ">" || (char === "&" && source[at + 1] === ">")) {
      const redirection = /^(?:&>>?|<<<|<<-?|[<>]&-?|>>|>\||<>|[<>])/.exec(source.slice(at, at + 4))?.[0] ?? char;
      if (redirection.startsWith("<<") && redirection !== "<<<") return fault(tokens, faults, "shell-syntax");
      at += redirection.length;
      if (source[at] === "(") return fault(tokens, faults, "shell-syntax");
      afterRedirection = !redirection.endsWith("-");
    } else {
      const operator = operators.find((text) => source.startsWith(text, at));
      if (operator !== undefined) {
        if (operator === ";;") return fault(tokens, faults, "shell-syntax");
        tokens.push({ kind: "operator", text: operator });
        at += operator.length;
        afterRedirection = false;
        continue;
      }
      const read = readWord(source, at, faults);
      if (read === null) return fault(tokens, faults, "shell-syntax");
      at = read.end;
      // The number of a descriptor belongs to its redirection.
      const isDescriptor = /^[0-9]+$/.test(read.word.raw) && (source[at] === "<" || source[at] === ">");
      if (!afterRedirection && !isDescriptor) tokens.push({ kind: "word", word: read.word });
      afterRedirection = false;
    }
  }
  return { tokens, isCut: false };
}

function fault(tokens: readonly Token[], faults: Set<ShellFault>, word: ShellFault): Tokens {
  faults.add(word);
  return { tokens, isCut: true };
}

/** The word that begins at `start`; null: it does not end. */
function readWord(
  source: string,
  start: number,
  faults: Set<ShellFault>,
): { readonly word: Word; readonly end: number } | null {
  let text = "";
  let isLiteral = true;
  let quote: "'" | '"' | null = null;
  let at = start;
  while (at < source.length) {
    const char = source[at] ?? "";
    const next = source[at + 1] ?? "";
    if (quote === "'") {
      if (char === "'") quote = null;
      else text += char;
      at += 1;
    } else if (char === "\\") {
      const keeps = quote === '"' && !'$`"\\\n'.includes(next);
      if (next !== "\n") text += keeps ? `\\${next}` : next;
      at += 2;
    } else if (char === '"') {
      quote = quote === '"' ? null : '"';
      at += 1;
    } else if (char === "`" || (char === "$" && next === "(")) {
      faults.add("substitution");
      isLiteral = false;
      const end = char === "`" ? source.indexOf("`", at + 1) : closing(source, at + 1);
      if (end < 0) return null;
      at = end + 1;
    } else if (char === "$" && next === "{") {
      isLiteral = false;
      const end = source.indexOf("}", at);
      if (end < 0) return null;
      text += source.slice(at, end + 1);
      at = end + 1;
    } else if (char === "$" && /[A-Za-z0-9_@*#?$!'"-]/.test(next)) {
      isLiteral = false;
      text += char;
      at += 1;
    } else if (quote === null && char === "'") {
      quote = "'";
      at += 1;
    } else if (quote === null && endsWord.has(char)) {
      break;
    } else {
      if (char === "~" && at === start) isLiteral = false;
      text += char;
      at += 1;
    }
  }
  if (quote !== null) return null;
  return { word: { text, raw: source.slice(start, Math.min(at, source.length)), isLiteral }, end: at };
}

/** Where the parenthesis at `open` is closed, quotes taken into account; -1: nowhere. */
function closing(source: string, open: number): number {
  let depth = 0;
  let quote = "";
  for (let at = open; at < source.length; at += 1) {
    const char = source[at] ?? "";
    if (quote !== "") {
      if (char === "\\" && quote === '"') at += 1;
      else if (char === quote) quote = "";
    } else if (char === "'" || char === '"') quote = char;
    else if (char === "\\") at += 1;
    else if (char === "(") depth += 1;
    else if (char === ")") {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return -1;
}
