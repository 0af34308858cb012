/** What linters print of the copies, as advice on added lines. Pure; their words are untrusted and bounded. */
import { quoted } from "../../core/quote.ts";
import type { Defect } from "../defect.ts";
import type { FileCopy } from "./copies.ts";
import { lineText } from "./copies.ts";
import { extensionOf, nameOf } from "./path-words.ts";

type CopyAt = (path: unknown) => FileCopy | null;

export interface Hint {
  readonly copy: FileCopy;
  /** From 1; 0: of the file as a whole. */
  readonly line: number;
  /** The tool's own code for it. Of a plain form. */
  readonly code: string;
  /** Untrusted. */
  readonly message: string;
}

const hintsMax = 20_000;
const messageLettersMax = 200;
/** Names that a host program puts there, or that only a type checker knows. */
const knownNames = new Set(["_", "reveal_type", "reveal_locals"]);

export function isPython(path: string): boolean {
  return extensionOf(path) === ".py";
}

export function isShell({ path, after }: { readonly path: string; readonly after: string | null }): boolean {
  const isNamedSo = [".sh", ".bash"].includes(extensionOf(path));
  return isNamedSo || /^#!\s*\S*\b(ba|da|k)?sh\b/.test((after ?? "").slice(0, 200));
}

export function isGo(path: string): boolean {
  return extensionOf(path) === ".go";
}

/** Of `ruff check --output-format json`; null: it is no such report. */
export function ruffHints(text: string, copyAt: CopyAt): readonly Hint[] | null {
  return hintsOf(parsed(text), copyAt, (entry) => ({
    path: entry.filename,
    line: isRecord(entry.location) ? entry.location.row : null,
    code: entry.code,
    message: entry.message,
  }));
}

/** Of `shellcheck -f json1`; null: it is no such report. */
export function shellcheckHints(text: string, copyAt: CopyAt): readonly Hint[] | null {
  const report = parsed(text);
  return hintsOf(isRecord(report) ? report.comments : null, copyAt, (entry) => ({
    path: entry.file,
    line: entry.line,
    code: typeof entry.code === "number" ? `SC${entry.code}` : null,
    message: entry.message,
  }));
}

/** Of `gofmt -l`: one path a line; null: it named something else. */
export function gofmtHints(text: string, copyAt: CopyAt): readonly Hint[] | null {
  const copies = text.split("\n").filter((line) => line !== "");
  const hints = copies.slice(0, hintsMax).map((path) => ({ copy: copyAt(path), line: 0 }));
  if (hints.some(({ copy }) => copy === null)) return null;
  return hints.map(({ copy, line }) => ({
    copy: copy as FileCopy,
    line,
    code: "gofmt",
    message: "not as gofmt writes it",
  }));
}

/** Hints on lines the change added that did not stand before; of the whole file only where none stood before. */
export function newHints(hints: readonly Hint[]): readonly Hint[] {
  const stood = new Set(hints.filter(({ copy }) => copy.side === "before").map(keyOf));
  return hints.filter((hint) => {
    if (hint.copy.side !== "after" || stood.has(keyOf(hint))) return false;
    return hint.line === 0 || hint.copy.file.added.some(({ line }) => line === hint.line);
  });
}

/** Undefined and unused names, MEDIUM. A name that was as undefined before the change is put there by somebody. */
export function nameDefects(hints: readonly Hint[]): readonly Defect[] {
  const named = hints.map((hint) => ({ hint, name: /`([^`]{1,200})`/.exec(hint.message)?.[1] ?? "" }));
  const key = ({ hint, name }: (typeof named)[number]) => JSON.stringify([hint.copy.file.path, hint.code, name]);
  const stood = new Set(named.filter(({ hint }) => hint.copy.side === "before").map(key));
  const fresh = newHints(hints);
  const wanted = named.filter((one) => fresh.includes(one.hint) && !stood.has(key(one)) && !knownNames.has(one.name));
  return wanted.flatMap(({ hint, name }): Defect[] => {
    const location = `${hint.copy.file.path}:${hint.line}`;
    if (hint.code === "F821") {
      const fix = `The name ${quoted(name, 100)} is defined nowhere.`;
      return [{ id: "", category: "CORRECTNESS", severity: "MEDIUM", location, fix }];
    }
    // What an `__init__.py` imports is what its package offers.
    if (hint.code !== "F401" || nameOf(hint.copy.file.path) === "__init__.py") return [];
    const fix = `The import ${quoted(name, 100)} is not used.`;
    return [{ id: "", category: "CODE-QUALITY", severity: "MEDIUM", location, fix }];
  });
}

/** Advice of a tool of ours: LOW, so that it can neither block nor force a pass. */
export function adviceOf(tool: string, { copy, line, code, message }: Hint): Omit<Defect, "id"> {
  const location = line === 0 ? copy.file.path : `${copy.file.path}:${line}`;
  const fix = `${tool} ${code}: ${quoted(message, messageLettersMax)}`;
  return { category: "CODE-QUALITY", severity: "LOW", location, fix };
}

/** Advice of the frozen lint command, which did not succeed: `tail` is the masked end of what it printed. */
export function commandAdvice(code: number, tail: string): Omit<Defect, "id"> {
  const fix = `The lint command exited with code ${code}. Its last words: ${quoted(tail, 2 * messageLettersMax)}`;
  return { category: "CODE-QUALITY", severity: "LOW", location: "lint_cmd", fix };
}

export function numbered(defects: readonly Omit<Defect, "id">[], prefix: string): readonly Defect[] {
  return defects.map((defect, index) => ({ ...defect, id: `${prefix}${index + 1}` }));
}

function keyOf({ copy, line, code, message }: Hint): string {
  return JSON.stringify([copy.file.path, code, message, line === 0 ? "" : lineText(copy.text, line)]);
}

function hintsOf(
  entries: unknown,
  copyAt: CopyAt,
  read: (entry: Record<string, unknown>) => {
    readonly path: unknown;
    readonly line: unknown;
    readonly code: unknown;
    readonly message: unknown;
  },
): readonly Hint[] | null {
  if (!Array.isArray(entries) || entries.length > hintsMax) return null;
  const hints: Hint[] = [];
  for (const entry of entries) {
    if (!isRecord(entry)) return null;
    const { path, line, code, message } = read(entry);
    const copy = copyAt(path);
    if (copy === null || typeof line !== "number" || !Number.isSafeInteger(line) || line < 0) return null;
    if (typeof message !== "string") return null;
    // A text that does not parse has no code in newer versions; the syntax floor speaks of it.
    if (typeof code !== "string" || !/^[A-Za-z]{1,8}\d{1,6}$/.test(code)) continue;
    hints.push({ copy, line, code, message: message.slice(0, 1000) });
  }
  return hints;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
