/** What every command that changed something ends with: settle, hand out, write what the instruction names, print it. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Instruction } from "../core/kind.ts";
import { ok, type Refusal, type Result } from "../core/result.ts";
import { change } from "../kinds/change/kind.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { liveLease } from "../parts/lease.ts";
import { patchOrNull } from "../platform/changes.ts";
import { replaceFile, syncFolder } from "../platform/files.ts";
import { decideAs, tokenOf } from "./change-run.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf } from "./effects.ts";
import { writePackets } from "./hand-out.ts";
import { awaitedOf, instructionFor } from "./instruct.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { syncLog } from "./log.ts";
import { roomOf } from "./memory.ts";
import { writeMarks } from "./results.ts";
import { writeRootPacket } from "./root-packets.ts";
import { type Settling, settleChange, settleWeave } from "./settle.ts";
import { load } from "./transact.ts";
import { refuseTreeInUse } from "./tree-holder.ts";
import { otherAtWork } from "./tree-turn.ts";

export interface Proceeded {
  readonly loaded: Loaded;
  readonly did: readonly string[];
  readonly next: Instruction;
  readonly claim: string;
}

const roundsMax = 50;
const awaitLookMs = 250;
const looksMax = 10;

export interface Wish {
  readonly claim: string | null;
  /** How long a running command may be waited for. */
  readonly waitMs?: number;
  /** How long an agent at work may be waited for, until something of it changes. */
  readonly awaitMs?: number;
  /** Print only work handed out now: what was printed before is in somebody's hands. Default: all that never started. */
  readonly onlyNew?: boolean;
  /** Look at the run's own tree first: see `torn-tree.ts`. */
  readonly mends?: boolean;
}

export async function proceed(engine: Engine, folder: RunFolder, wish: Wish): Promise<Result<Proceeded, Refusal>> {
  const begunMs = performance.now();
  let waitedMs = 0;
  const settling: Settling = {
    engine,
    folder,
    claim: wish.claim,
    waitMs: wish.waitMs ?? 0,
    now: engine.moment.now,
    mends: wish.mends === true,
  };
  const first = load(engine, folder);
  if (!first.ok) return first;
  if (first.value.kind.name === "weave") {
    const settled = settleWeave(settling);
    return settled.ok ? conclude(engine, settled.value.loaded, settled.value.did) : settled;
  }
  const did: string[] = [];
  const before = new Set((first.value as Loaded<ChangeState>).state.leases.live.map((lease) => lease.lease));
  for (let round = 0; round < roundsMax; ) {
    const settled = await settleChange({ ...settling, now: settling.now + waitedMs });
    if (!settled.ok) return settled;
    did.push(...settled.value.did);
    const busy = refuseBusyTree(engine, settled.value.loaded);
    if (busy !== null) return busy;
    const handed = decideAs(engine, folder, wish.claim, { do: "hand-out", room: roomOf(engine.environment) });
    if (!handed.ok) return handed;
    if (!handed.value.recorded) {
      const leftMs = (wish.awaitMs ?? 0) - waitedMs;
      if (did.length === 0 && leftMs > 0 && change.next(handed.value.loaded.state).step === "await") {
        await sleep(Math.min(awaitLookMs, leftMs));
        waitedMs = Math.ceil(performance.now() - begunMs);
        continue;
      }
      return conclude(engine, handed.value.loaded, did, wish.onlyNew === true ? before : new Set());
    }
    const leases = handed.value.loaded.state.leases.live.filter((lease) => !lease.started).map((lease) => lease.lease);
    did.push(`handed out ${leases.join(" ")}`);
    round += 1;
  }
  throw new Error(`run ${folder.id} does not come to rest`);
}

/** One writer in the user's tree: a fork or an adopted run may stand at its coder without having passed the gate here. */
function refuseBusyTree(
  engine: Engine,
  loaded: Loaded<ChangeState>,
): { readonly ok: false; readonly error: Refusal } | null {
  const { isolated, phase, leases } = loaded.state;
  if (isolated || phase.at !== "code" || liveLease(leases, "coder") !== undefined) return null;
  const other = otherAtWork(engine, loaded);
  return other === null ? null : refuseTreeInUse(other);
}

/** Files first, then the sync, then the instruction: it must never rest on what nobody synced. */
export function conclude(
  engine: Engine,
  loaded: Loaded,
  did: readonly string[],
  printed: ReadonlySet<string> = new Set(),
): Result<Proceeded, Refusal> {
  if (loaded.kind.name === "change") {
    const run = loaded as Loaded<ChangeState>;
    writePackets(engine, run);
    writeRootPacket(engine, run);
    writeAsItStands(engine, run);
  }
  syncLog(engine.fs, loaded.folder.ledger);
  // A hook puts an agent's last words into `results`: that folder must not go with the power.
  syncFolder(engine.fs, loaded.folder.ledger);
  // Whoever bore the run may have been killed between its renaming and its folder's sync.
  syncFolder(engine.fs, join(loaded.folder.ledger, ".."));
  return ok({ loaded, did, next: instructionFor(engine, loaded, printed), claim: tokenOf(loaded) });
}

/**
 * Marks and patch have one name whoever writes them, and others may have gone on since we folded. So what was written is
 * compared with what stands then: whoever writes last, a late one too, leaves the files of the newest fold.
 */
function writeAsItStands(engine: Engine, folded: Loaded<ChangeState>): void {
  let run = folded;
  for (let look = 0; look < looksMax; look += 1) {
    writeMarks(engine, run, awaitedOf(run));
    writePatch(engine, run);
    const now = load(engine, run.folder);
    if (!now.ok || now.value.tip.seq === run.tip.seq) return;
    run = now.value as Loaded<ChangeState>;
  }
}

/** The change as a patch from the baseline, once a label stands. */
function writePatch(engine: Engine, loaded: Loaded<ChangeState>): void {
  const { label, base, checkpoint } = loaded.state;
  if (label === null || base === null || checkpoint === null) return;
  const snapshots = snapshotsOf(engine, loaded);
  const patch =
    patchOrNull(snapshots, base, checkpoint) ??
    `The patch is too large. Trees of ${snapshots.gitDir}: from ${base} to ${checkpoint}\n`;
  replaceFile(engine.fs, join(loaded.folder.ledger, "artifacts", "result.patch"), patch, false);
}
