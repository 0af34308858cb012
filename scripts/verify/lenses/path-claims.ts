/** Paths that added prose speaks of in backticks. */
import type { ChangedFile } from "../changed-file.ts";
import { isResidue } from "../scope.ts";
import { isProse } from "./path-words.ts";

export interface PathClaim {
  /** Of the file that makes it, and the line. */
  readonly from: string;
  readonly line: number;
  /** As written, without `./`, `:12` and `#L3`. */
  readonly path: string;
}

const lineCharsMax = 4000;
const placeholders = new Set("path foo bar baz qux quux your my some example examples xxx dir folder name".split(" "));
/** A first part such as `example.org` begins a URL that does without its scheme. */
const domain = /^[\w-]+(\.[\w-]+)*\.(com|org|net|io|dev|sh|rs|ai|app|co|edu|gov|me|de|uk|eu)$/i;

export function pathClaims(files: readonly ChangedFile[]): readonly PathClaim[] {
  return files
    .filter(({ path, status }) => status !== "D" && isProse(path))
    .flatMap(({ path: from, added }) =>
      added.flatMap(({ line, text }) =>
        spansOf(text).flatMap((span) => {
          const path = claimedPath(span);
          return path === null ? [] : [{ from, line, path }];
        }),
      ),
    );
}

/** What stands between two equally long runs of backticks. */
function spansOf(text: string): readonly string[] {
  if (text.length > lineCharsMax) return [];
  const parts = text.split(/(`+)/);
  const spans: string[] = [];
  for (let at = 1; at + 2 < parts.length; at += 2) {
    if (parts[at] !== parts[at + 2]) continue;
    spans.push(parts[at + 1] ?? "");
    at += 2;
  }
  return spans;
}

/** A relative path with a folder and a file's ending; null for globs, URLs, placeholders, packages and whatever is no path. */
function claimedPath(span: string): string | null {
  const bare = span
    .trim()
    .replace(/(:\d+(-\d+)?(:\d+)?|#L\d+(-L?\d+)?)$/, "")
    .replace(/^(\.\/)+/, "");
  if (!/^[\p{L}\p{N}_.+-][\p{L}\p{N}_.+@-]*(\/[\p{L}\p{N}_.+@-]+)+$/u.test(bare)) return null;
  const parts = bare.split("/");
  if (!/.\.[A-Za-z][A-Za-z0-9]{0,7}$/.test(parts.at(-1) ?? "")) return null;
  if (parts.some((part) => placeholders.has(part.toLowerCase().replace(/\.\w+$/, "")))) return null;
  if (parts.includes("..") || domain.test(parts[0] ?? "") || isResidue(bare)) return null;
  return bare;
}
