/** Every lens, one after the other, each with its time. What goes wrong in one is that lens's `failed`, no more. */
import type { Packet } from "../kinds/change/door-packet.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import type { Evidence, LensEvidence } from "../verify/evidence.ts";
import { failed, type LensAnswer, type LensName, lensNames, skipped } from "../verify/lens.ts";
import { criteriaOverlapLens } from "../verify/lenses/criteria-overlap.ts";
import { debugTokensLens } from "../verify/lenses/debug-tokens.ts";
import { testsChangedLens } from "../verify/lenses/tests-changed.ts";
import { changedFiles, testMatcher } from "./changed-files.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf } from "./effects.ts";
import type { Loaded } from "./ledger.ts";
import { environmentOf } from "./lens-environment.ts";
import type { LensInput } from "./lens-input.ts";
import { syntaxOf } from "./lens-syntax.ts";
import { buildRewroteOf, pathGroundingOf } from "./lens-trees.ts";
import { advisoryLintOf, undefinedNamesOf } from "./lint.ts";
import { sastOf } from "./sast.ts";

const table: { readonly [N in LensName]: (input: LensInput) => LensAnswer } = {
  syntax: syntaxOf,
  "debug-tokens": ({ files, packet }) => debugTokensLens(files, packet.debug_tokens),
  "tests-changed": ({ files }) => testsChangedLens(files),
  "criteria-overlap": ({ files, packet }) => criteriaOverlapLens(files, packet.success_criteria),
  "path-grounding": pathGroundingOf,
  environment: environmentOf,
  "build-rewrote": buildRewroteOf,
  sast: sastOf,
  "undefined-names": undefinedNamesOf,
  "advisory-lint": advisoryLintOf,
};

export function lensesOf(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  given: Omit<Evidence, "lenses"> & { readonly packet: Packet | null; readonly root: string },
): Evidence["lenses"] {
  const { packet, root, ...measured } = given;
  if (packet === null) return Object.fromEntries(lensNames.map((name) => [name, { ...skipped("packet.lost"), ms: 0 }]));
  const files = changedFiles(snapshotsOf(engine, loaded), measured.tree, testMatcher(packet));
  const input: LensInput = { engine, loaded, packet, root, files, measured };
  return Object.fromEntries(lensNames.map((name) => [name, timed(() => table[name](input))]));
}

function timed(look: () => LensAnswer): LensEvidence {
  const begunMs = performance.now();
  let answer: LensAnswer;
  try {
    answer = look();
  } catch {
    // An error's text may hold what lies in the tree: it goes nowhere.
    answer = failed("the lens broke");
  }
  return { ...answer, ms: Math.round(performance.now() - begunMs) };
}
