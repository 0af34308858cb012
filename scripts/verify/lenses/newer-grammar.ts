/** Whether a text may be of a newer grammar than the parser at hand: then its "no" says nothing. */
import type { NativeLanguage } from "./language.ts";

/** Text of a file at the tree's root; null: there is none. */
export type LookAt = (path: string) => string | null;

const declarations: Readonly<Record<string, readonly (readonly [path: string, where: RegExp])[]>> = {
  python: [
    [".python-version", /^\s*(?:cpython-|python-)?(\d+\.\d+)/m],
    [".tool-versions", /^python\s+(\d+\.\d+)/m],
    ["pyproject.toml", /^\s*requires-python\s*=\s*["'][^"'\n]{0,100}?(?:>=?|==|~=|\^)\s*(\d+\.\d+)/m],
    ["pyproject.toml", /^\s*python\s*=\s*["'][^"'\n]{0,100}?(?:>=?|==|~=|\^|~)\s*(\d+\.\d+)/m],
    ["setup.cfg", /^\s*python_requires\s*=[^\n]{0,100}?(?:>=?|==|~=)\s*(\d+\.\d+)/m],
  ],
  ruby: [
    [".ruby-version", /^\s*(?:ruby-)?(\d+\.\d+)/m],
    [".tool-versions", /^ruby\s+(\d+\.\d+)/m],
    ["Gemfile", /^\s*ruby\s*\(?\s*["'][^"'\n]{0,40}?(\d+\.\d+)/m],
  ],
  php: [["composer.json", /"php"\s*:\s*"[^"\n]{0,40}?(\d+\.\d+)/]],
};

/** What each version of Python brought, told by the line its elder stumbles over. */
const pythonSince: readonly (readonly [minor: number, form: RegExp])[] = [
  [14, /^\s*except\s+[\w.]+\s*,|\b[tT][rR]?["']/],
  [12, /^\s*type\s+\w|^\s*(async\s+)?(def|class)\s+\w+\s*\[|\b[fFrR]{1,2}["']/],
  [11, /^\s*except\s*\*|\[[^\]]*\*\w/],
  [10, /^\s*(match|case)\b.*:|^\s*(async\s+)?with\s*\(/],
  [9, /^\s*(async\s+)?with\s*\(|^\s*@/],
  [8, /:=|\/\s*[,)]|\b[fF]["']/],
];

/** `version` as `x.y`, of the parser; null: unknown, and then its word counts. */
export function mayBeNewer(
  language: NativeLanguage,
  text: string,
  refusal: { readonly line: number | null; readonly version: string | null },
  look: LookAt,
): boolean {
  const { line, version } = refusal;
  if (version === null) return false;
  const declared = (declarations[language] ?? []).flatMap(([path, where]) => where.exec(look(path) ?? "")?.[1] ?? []);
  if (declared.some((asked) => isAfter(asked, version))) return true;
  if (language !== "python" || line === null) return false;
  const lines = text.split("\n");
  // A parser names the line it gave up at: that, or the one before it.
  const near = [lines[line - 1] ?? "", lines[line - 2] ?? ""].map((one) => one.slice(0, 2000));
  return pythonSince.some(([minor, form]) => isAfter(`3.${minor}`, version) && near.some((one) => form.test(one)));
}

function isAfter(one: string, other: string): boolean {
  const [major = 0, minor = 0] = one.split(".").map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split(".").map(Number);
  return major === otherMajor ? minor > otherMinor : major > otherMajor;
}
