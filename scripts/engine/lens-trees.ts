/** Lenses that ask the snapshots: which paths there are, and which of them the build changed. Read only. */
import { changesBetween } from "../platform/changes.ts";
import { treePaths } from "../platform/tree-paths.ts";
import type { LensAnswer } from "../verify/lens.ts";
import { buildRewroteLens } from "../verify/lenses/build-rewrote.ts";
import { pathClaims } from "../verify/lenses/path-claims.ts";
import { pathGroundingLens } from "../verify/lenses/path-grounding.ts";
import { snapshotsOf } from "./effects.ts";
import type { LensInput } from "./lens-input.ts";

export function pathGroundingOf({ engine, loaded, files, measured }: LensInput): LensAnswer {
  const claims = pathClaims(files);
  if (claims.length === 0) return pathGroundingLens(claims, { paths: [], nested: [] });
  const snapshots = snapshotsOf(engine, loaded);
  const { before, coded } = measured.tree;
  // What the change removed may be spoken of.
  const trees = [treePaths(snapshots, coded), treePaths(snapshots, before)];
  return pathGroundingLens(claims, {
    paths: trees.flatMap(({ paths }) => paths),
    nested: trees.flatMap(({ nested }) => nested),
  });
}

export function buildRewroteOf({ engine, loaded, files, measured }: LensInput): LensAnswer {
  const { coded, built } = measured.tree;
  const rewritten = changesBetween(snapshotsOf(engine, loaded), coded, built).map(({ path }) => path);
  return buildRewroteLens(files, rewritten);
}
