/** The verdict of a pass, from re-read and re-hashed artifacts only. */
import type { ChangeCommand } from "../kinds/change/decide.ts";
import { check } from "../kinds/change/doors.ts";
import { type ChangeState, filledKey } from "../kinds/change/state.ts";
import type { Pass } from "../parts/passes.ts";
import { changesBetween } from "../platform/changes.ts";
import { type CriticName, criticNames } from "../verify/critic.ts";
import type { Evidence } from "../verify/evidence.ts";
import { scopeMatcher } from "../verify/scope.ts";
import { type CriticSeen, type Verdict, verdict } from "../verify/verdict.ts";
import { readArtifact } from "./artifacts.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf } from "./effects.ts";
import { globMatcher } from "./globs.ts";
import type { Loaded } from "./ledger.ts";
import { halfTheMachine } from "./memory.ts";
import { readPacket } from "./packets.ts";

/** The judging command for the pass the run stands in. */
export function judgement(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  pass: Pass,
): Extract<ChangeCommand, { do: "judge" }> {
  const result = verdictOf(engine, loaded, pass);
  const ids = [...new Set(result.blocking.map((defect) => reasonOf(defect.id)))].slice(0, 40);
  return {
    do: "judge",
    pass,
    label: result.label,
    refine: result.refine,
    reasons: [...result.why, ...ids],
    blocking: result.blocking.length,
  };
}

/** Ids of a critic are its own words: only their form goes into the ledger's reasons. */
function reasonOf(id: string): string {
  return /^[CQS]\d{1,4}$/.test(id) ? "defect.critic" : `defect.${id.split(":")[0]}`;
}

/** The same function at judging and at printing: over what lies on disk now, checked against the ledger's hashes. */
export function verdictOf(engine: Engine, loaded: Loaded<ChangeState>, pass: Pass, depth = 0): Verdict {
  const evidence = readEvidence(engine, loaded, pass);
  const critics = Object.fromEntries(criticNames.map((name) => [name, readCritic(engine, loaded, name, pass)]));
  const packet = readPacket(engine, loaded);
  const matches = scopeMatcher(packet?.scope_paths ?? [], globMatcher);
  const changed =
    evidence === null
      ? []
      : changesBetween(snapshotsOf(engine, loaded), evidence.tree.before, evidence.tree.coded).map(
          (change) => change.path,
        );
  return verdict(evidence, critics as Record<CriticName, CriticSeen>, pass, {
    changed,
    matches,
    previous: previousOf(engine, loaded, pass, depth),
  });
}

function previousOf(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  pass: Pass,
  depth: number,
): { readonly tree: string; readonly blocking: Verdict["blocking"] } | null {
  if (pass === 0 || depth > 2) return null;
  const before = (pass - 1) as Pass;
  const evidence = readEvidence(engine, loaded, before);
  if (evidence === null) return null;
  return { tree: evidence.tree.coded, blocking: verdictOf(engine, loaded, before, depth + 1).blocking };
}

export function readEvidence(engine: Engine, loaded: Loaded<ChangeState>, pass: Pass): Evidence | null {
  const filled = loaded.state.filled[filledKey("evidence", pass)];
  if (filled === undefined) return null;
  const name = { slot: "evidence", pass, extension: "json" };
  return JSON.parse(readArtifact(engine.fs, loaded.folder, name, filled.sha256).toString("utf8")) as Evidence;
}

export function readCritic(engine: Engine, loaded: Loaded<ChangeState>, name: CriticName, pass: Pass): CriticSeen {
  const filled = loaded.state.filled[filledKey(name, pass)];
  if (filled === undefined) return { status: "missing" };
  const bytes = readArtifact(engine.fs, loaded.folder, { slot: name, pass, extension: "json" }, filled.sha256);
  const checked = check(name, bytes, { exists: () => true, memoryBytes: halfTheMachine(), recovered: false });
  return checked.ok ? { status: "taken", pass, critic: checked.value } : { status: "malformed" };
}
