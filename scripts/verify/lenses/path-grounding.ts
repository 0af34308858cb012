/** Whether the paths that added prose speaks of are there. A heuristic: never above MEDIUM. */
import { quoted } from "../../core/quote.ts";
import type { Defect } from "../defect.ts";
import { type LensAnswer, ran, skipped } from "../lens.ts";
import { capped } from "./capped.ts";
import type { PathClaim } from "./path-claims.ts";
import { nameOf } from "./path-words.ts";

/** What there is before the change or after it. */
export interface TreePaths {
  readonly paths: Iterable<string>;
  /** Folders of repositories within this one: what lies in them is not known. */
  readonly nested: readonly string[];
}

/**
 * A claim may be meant from the root, or from any folder: a path that ends as it says is enough. CODE-QUALITY, because
 * a wrong word in prose is worth no further pass of a coder.
 */
export function pathGroundingLens(claims: readonly PathClaim[], there: TreePaths): LensAnswer {
  if (claims.length === 0) return skipped("no added prose names a path");
  const ends = new Map<string, string[]>();
  for (const path of there.paths) {
    const name = nameOf(path);
    const same = ends.get(name);
    if (same === undefined) ends.set(name, [path]);
    else same.push(path);
  }
  const isThere = (path: string) =>
    (ends.get(nameOf(path)) ?? []).some((known) => known === path || known.endsWith(`/${path}`)) ||
    there.nested.some((folder) => path.startsWith(`${folder}/`));
  const defects = claims
    .filter(({ path }) => !isThere(path))
    .map(
      ({ from, line, path }, index): Defect => ({
        id: `P${index + 1}`,
        category: "CODE-QUALITY",
        severity: "MEDIUM",
        location: `${from}:${line}`,
        fix: `There is no ${quoted(path, 200)}. Name a path that exists, or say that it is an example.`,
      }),
    );
  return ran(capped(defects, { id: `P${defects.length}`, what: "paths named in prose do not exist" }));
}
