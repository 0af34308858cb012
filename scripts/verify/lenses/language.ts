/** Which parser a changed file is for, told by its name and its first line. */
import { extensionOf, nameOf } from "./path-words.ts";

export type OwnLanguage = "script" | "json" | "jsonc" | "toml" | "yaml";
export type NativeLanguage = "python" | "ruby" | "php" | "go" | "shell";
export type Language = OwnLanguage | NativeLanguage;

export interface Spoken {
  readonly language: Language;
  /**
   * Whether a file that is new must parse. Where programs disagree about a format, only a file that parsed before is
   * held to it.
   */
  readonly whenNew: boolean;
}

const byExtension: Readonly<Record<string, Language>> = {
  ".js": "script",
  ".jsx": "script",
  ".mjs": "script",
  ".cjs": "script",
  ".ts": "script",
  ".tsx": "script",
  ".mts": "script",
  ".cts": "script",
  ".py": "python",
  ".pyi": "python",
  ".pyw": "python",
  ".rb": "ruby",
  ".rake": "ruby",
  ".gemspec": "ruby",
  ".ru": "ruby",
  ".php": "php",
  ".go": "go",
  ".sh": "shell",
  ".bash": "shell",
  ".yml": "yaml",
  ".yaml": "yaml",
};

const strictJson = new Set(
  "package.json composer.json package-lock.json npm-shrinkwrap.json composer.lock Pipfile.lock deno.lock flake.lock packages.lock.json".split(
    " ",
  ),
);
const strictToml = new Set("pyproject.toml Cargo.toml Cargo.lock poetry.lock uv.lock pdm.lock Pipfile".split(" "));
const commented =
  /^([jt]sconfig(\..+)?\.json|devcontainer\.json|deno\.jsonc?|biome\.jsonc?|turbo\.json|nx\.json|bun\.lock|.+\.(jsonc|code-workspace|code-snippets))$/;
const rubyNames = new Set(["Rakefile", "Gemfile"]);

/** Null: a language no parser of ours speaks. */
export function languageOf(path: string, text: string): Spoken | null {
  const name = nameOf(path);
  if (strictJson.has(name)) return { language: "json", whenNew: true };
  if (strictToml.has(name)) return { language: "toml", whenNew: true };
  if (commented.test(name) || (name.endsWith(".json") && path.split("/").at(-2) === ".vscode")) {
    return { language: "jsonc", whenNew: true };
  }
  const extension = extensionOf(path);
  // Comments, several values in one file, templates: `.json` is what its reader takes.
  if (extension === ".json") return { language: "jsonc", whenNew: false };
  if (extension === ".toml") return { language: "toml", whenNew: false };
  const language = rubyNames.has(name) ? "ruby" : byExtension[extension];
  if (language === undefined) return null;
  if (!saysSo(language, text)) return null;
  return { language, whenNew: true };
}

/** A first line that names another program than the extension does is believed. */
function saysSo(language: Language, text: string): boolean {
  const head = text.slice(0, 2000);
  const first = head.startsWith("#!") ? (head.split("\n", 1)[0] ?? "") : "";
  // `zsh` in a `.sh` file is told by a first line, a mode line or `emulate zsh`.
  if (language === "shell") return first === "" ? !/\bzsh\b/.test(head) : /\b(ba|da|a)?sh\b/.test(first);
  if (language === "python") return !/\bpython2/.test(first);
  return true;
}

/** Control flow of Go's, Jinja's and EJS's templates. */
const templateFlow =
  /\{\{-? *(if|else|end|range|with|define|template|block|include)\b|\{%-? *(if|for|set|end\w*|else|include|block|macro)\b|<%[=-]? |^[ \t]*\{\{[-#/ ]/m;

/**
 * The text of a template, which is no text of its language yet: it lies in a folder of templates and has a template's
 * marks, or holds a template's control flow.
 */
export function isTemplate(path: string, text: string): boolean {
  if (/\{\{|\{%|<%/.test(path)) return true;
  const inFolder = path.split("/").some((folder) => /^_?(templates?|skeletons?|scaffolds?|blueprints?)$/.test(folder));
  return inFolder ? /\{\{|\{%|<%/.test(text) : templateFlow.test(text);
}
