/** Globs as people write them in a scope. Apart, because only a judgement needs the package. */
import picomatch from "picomatch";

/** Whether a path matches; names that begin with a dot are names like others. */
export function globMatcher(pattern: string): (path: string) => boolean {
  const matches = picomatch(pattern, { dot: true });
  return (path) => matches(path);
}
