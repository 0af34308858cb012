/**
 * What is wrong and the command that mends it. Looks, and changes nothing but one probe file that it removes again.
 * Total: whatever lies on disk is a finding, never an exception.
 */

import { isKept, listRefs } from "./clean-refs.ts";
import type { Engine } from "./context.ts";
import { bad, type Check, fine, guarded } from "./doctor-check.ts";
import { checkLedgers, checkMarkers } from "./doctor-ledgers.ts";
import { checkMachine } from "./doctor-machine.ts";
import { checkPlaces } from "./doctor-places.ts";
import { checkHooks, checkLost } from "./doctor-sessions.ts";
import { readOnly } from "./look-only.ts";
import { type Found, findRuns, placesOf } from "./runs.ts";

export interface DoctorWish {
  /** Looks at the ledger of this run alone. */
  readonly run: string | null;
  /** Id of the running build; null when it was not built. */
  readonly build: string | null;
  readonly canFork: boolean;
  /** Milliseconds after which no further ledger is opened; default 1,600. */
  readonly timeMs?: number;
}

const timeMsDefault = 1600;

export function doctor(engine: Engine, wish: DoctorWish): readonly Check[] {
  const untilMs = performance.now() + (wish.timeMs ?? timeMsDefault);
  // A reading marks finished runs: here it must not, or a lost marker would be mended before it is seen.
  const looking: Engine = { ...engine, fs: readOnly(engine.fs) };
  const checks: Check[] = [...checkMachine(engine, wish.build)];
  const lost: Check[] = [];
  checks.push(
    ...guarded("places", () => {
      const { places, searched, repository } = placesOf(looking);
      lost.push(...checkLost(looking, searched));
      return checkPlaces(engine, { places, searched, inRepository: repository !== null });
    }),
  );
  checks.push(...lost, ...guarded("hooks", () => [checkHooks(looking)]));
  let found: Found | null = null;
  checks.push(
    ...guarded("runs", () => {
      found = findRuns(looking, wish.run === null ? "all" : { only: wish.run });
      return [];
    }),
  );
  if (found === null) return checks;
  const seen: Found = found;
  if (wish.run !== null && seen.runs.length === 0) {
    checks.push(bad("ledgers", "there is no run of that id here", "atlas status --all"));
  }
  const { canFork } = wish;
  checks.push(
    ...guarded("ledgers", () => checkLedgers(looking, seen, { canFork, untilMs })),
    ...guarded("finished markers", () => checkMarkers(looking, seen, wish.run !== null)),
    ...guarded("kept refs", () => keptRefs(looking, seen.commonDir)),
  );
  return checks;
}

function keptRefs(engine: Engine, commonDir: string | null): readonly Check[] {
  if (commonDir === null) return [];
  const ours = listRefs(engine.git, commonDir).all.filter((ref) => ref.name.startsWith("refs/atlas/"));
  const kept = ours.filter(isKept);
  const runs = new Set(kept.map((ref) => ref.name.split("/")[2])).size;
  const other = ours.length - kept.length;
  const detail = `${kept.length} refs keep work of ${runs} runs; ${other} other refs of ours`;
  return [fine("kept refs", detail, ours.length === 0 ? null : "atlas clean --dry-run")];
}
