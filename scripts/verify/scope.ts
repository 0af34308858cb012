/** Folders and files that tools leave behind; outside the scope they are nobody's change. */
const residueSegments = new Set(
  ".atlas .pytest_cache __pycache__ .mypy_cache .ruff_cache .tox .nox .venv venv node_modules dist build target htmlcov".split(
    " ",
  ),
);

export function isResidue(path: string): boolean {
  const segments = path.split("/");
  if (segments.some((segment) => residueSegments.has(segment) || segment.endsWith(".egg-info"))) return true;
  const name = segments.at(-1) ?? "";
  return /\.py[co]$/.test(name) || name.startsWith(".coverage");
}

/** One spelling for each scope path: no leading `./`, no trailing `/`; the whole tree is `.`. */
export function normalScopePath(path: string): string {
  const bare = path.replace(/^(\.\/+)+/, "").replace(/\/+$/, "");
  return bare === "" ? "." : bare;
}

/**
 * Whether a path (relative to the tree's root, `/` between segments) lies in the scope: `.` holds everything, an empty
 * scope nothing, a path itself and what lies below it, a glob what `glob` says of it. Each glob is compiled once.
 */
export function scopeMatcher(
  scopePaths: readonly string[],
  glob: (pattern: string) => (path: string) => boolean,
): (path: string) => boolean {
  const scope = scopePaths.map(normalScopePath);
  if (scope.includes(".")) return () => true;
  const globs = scope.filter((entry) => /[*?[\]{}()!+@]/.test(entry)).map(glob);
  return (path) =>
    scope.some((entry) => path === entry || path.startsWith(`${entry}/`)) || globs.some((matches) => matches(path));
}
