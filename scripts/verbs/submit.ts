import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ok, type Refusal, refuse, UsageError } from "../core/result.ts";
import { changeOf, decideAs, tokenOf } from "../engine/change-run.ts";
import type { Engine } from "../engine/context.ts";
import { awaitedOf } from "../engine/instruct.ts";
import type { Loaded } from "../engine/ledger.ts";
import { checkClaim } from "../engine/owning.ts";
import { proceed } from "../engine/proceed.ts";
import { answerIn, resultPath, resultsOf, submission, wasSeenStopping } from "../engine/results.ts";
import { wantedSlots } from "../kinds/change/next.ts";
import { type ChangeState, lastFilled } from "../kinds/change/state.ts";
import { type Lease, liveLease } from "../parts/lease.ts";
import { changeSlots, isSlotName, type SlotName } from "../parts/slots.ts";
import { entryKind } from "../platform/files.ts";
import { sha256 } from "../platform/hash.ts";
import type { Arguments } from "./arguments.ts";
import { readGiven } from "./given-file.ts";
import { loadNamed } from "./load.ts";
import { type Outcome, refused, refusedBy } from "./outcome.ts";
import { showRun } from "./shown.ts";

const hookLooks = 15;
const hookLookMs = 200;

/** Takes one artifact, checks it at its slot's door, advances; or records that its agent ended badly. */
export async function submit(engine: Engine, given: Arguments): Promise<Outcome> {
  const slot = given.required("slot");
  if (!isSlotName(slot)) return refusedBy(refuse("slot.unknown", "no slot of that name exists", "atlas next"));
  const read = loadNamed(engine, given);
  if (!read.ok) return refused(read.error);
  const run = changeOf(read.value);
  if (!run.ok) return refused(run.error);
  const claim = given.text("claim");
  const claimed = checkClaim(engine, run.value, claim);
  if (!claimed.ok) return refused(claimed.error);
  const failed = given.text("failed");
  return failed === null
    ? handIn(engine, given, run.value, slot, claim)
    : handBack(engine, run.value, slot, claim, failed);
}

async function handIn(
  engine: Engine,
  given: Arguments,
  loaded: Loaded<ChangeState>,
  slot: SlotName,
  claim: string | null,
): Promise<Outcome> {
  const path = given.text("file") ?? (await awaitedPath(engine, loaded, slot));
  if (path === null) {
    return refusedBy(
      refuse(
        "slot.no_result",
        `no result of slot ${slot} lies where it is expected`,
        `atlas submit --run ${loaded.folder.id} --claim ${tokenOf(loaded)} --slot ${slot} --file FILE`,
      ),
    );
  }
  const bytes = readGiven(engine, path);
  // Its door may say otherwise by now (a path is gone, another tree stands): what was taken stays taken.
  if (isTaken(loaded.state, slot, bytes)) return goOn(engine, loaded, [`already ${slot}`]);
  const made = submission(engine, loaded, slot, bytes, viaOf(engine, loaded, slot, given.text("file")));
  if (!made.ok) {
    const lease = liveLease(loaded.state.leases, slot);
    return lease !== undefined && path === resultPath(loaded.folder, lease.lease) && isFault(made.error.code)
      ? countFault(engine, loaded, claim, lease, made.error)
      : refused(made.error);
  }
  const decided = decideAs(engine, loaded.folder, claim, made.value);
  if (!decided.ok) return refused(decided.error);
  return goOn(engine, decided.value.loaded, decided.value.recorded ? [`took ${slot}`] : [`already ${slot}`]);
}

/** A result that lies there may have been taken by an earlier command; handing it in again is no news. */
function isTaken(state: ChangeState, slot: SlotName, bytes: Uint8Array): boolean {
  if (wantedSlots(state).includes(slot)) return false;
  const taken = lastFilled(state, slot)?.sha256;
  return taken === sha256(bytes) || taken === sha256(answerIn(slot, bytes).bytes);
}

/** What a door found in the bytes, not what the run says to them. */
function isFault(code: string): boolean {
  return code.startsWith("slot.") || code.startsWith("critic.");
}

/** An agent's own result in the wrong form is its bad ending: handed out once more with the faults, then given up. */
async function countFault(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  claim: string | null,
  lease: Lease,
  fault: Refusal,
): Promise<Outcome> {
  const { slot } = lease;
  const decided = decideAs(engine, loaded.folder, claim, (now) =>
    liveLease(now.state.leases, slot)?.lease === lease.lease
      ? ok({ do: "fail", slot, how: "error", stopped: true })
      : refuse("lease.none", `the lease of slot ${slot} ended meanwhile`, "atlas next"),
  );
  if (!decided.ok) return refused(decided.error);
  const { code, reason } = fault;
  return goOn(engine, decided.value.loaded, [`ended ${lease.lease} (${code})`], { fault: { code, reason } });
}

async function handBack(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  slot: SlotName,
  claim: string | null,
  how: string,
): Promise<Outcome> {
  if (how !== "timeout" && how !== "error" && how !== "refused") {
    throw new UsageError("--failed takes one of: timeout, error, refused", "atlas next", "usage.failed");
  }
  const lease = liveLease(loaded.state.leases, slot);
  const stopped = lease !== undefined && wasSeenStopping(engine, loaded.folder, lease);
  const decided = decideAs(engine, loaded.folder, claim, { do: "fail", slot, how, stopped });
  if (!decided.ok) return refused(decided.error);
  return goOn(engine, decided.value.loaded, [`ended ${slot} (${how})`]);
}

async function goOn(
  engine: Engine,
  loaded: Loaded,
  did: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<Outcome> {
  const proceeded = await proceed(engine, loaded.folder, { claim: tokenOf(loaded), onlyNew: true });
  if (!proceeded.ok) return refused(proceeded.error);
  return showRun(engine, { ...proceeded.value, did: [...did, ...proceeded.value.did] }, more);
}

/** A host may run the hook that writes an agent's result beside the agent's return: it gets a moment to land. */
async function awaitedPath(engine: Engine, loaded: Loaded<ChangeState>, slot: SlotName): Promise<string | null> {
  const lease = liveLease(loaded.state.leases, slot);
  // What stands there and is no file will not become one.
  const isOut = lease !== undefined && entryKind(engine.fs, resultPath(loaded.folder, lease.lease)) === "absent";
  for (let look = 0; ; look += 1) {
    const path = defaultPath(engine, loaded, slot);
    if (path !== null || !isOut || look === hookLooks) return path;
    await sleep(hookLookMs);
  }
}

/** The instruction's own `result` path: a live lease's, or the awaited submit's; else what was handed in before. */
function defaultPath(engine: Engine, loaded: Loaded<ChangeState>, slot: SlotName): string | null {
  const lease = liveLease(loaded.state.leases, slot);
  const pass = "pass" in loaded.state.phase ? loaded.state.phase.pass : 0;
  const named = awaitedOf(loaded) ?? `${slot}.${pass}`;
  const candidates = [
    ...(lease === undefined ? lastResults(engine, loaded, slot) : [resultPath(loaded.folder, lease.lease)]),
    join(loaded.folder.ledger, "results", `${named}.${changeSlots[slot].extension}`),
    join(loaded.folder.ledger, "results", `${slot}.${pass}.${changeSlots[slot].extension}`),
  ];
  return candidates.find((path) => entryKind(engine.fs, path) === "file") ?? null;
}

/** The result of the lease that was out last. */
function lastResults(engine: Engine, loaded: Loaded<ChangeState>, slot: SlotName): readonly string[] {
  return resultsOf(engine, loaded.folder, slot, loaded.state.leases.issued[slot] ?? 0);
}

function viaOf(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  slot: SlotName,
  file: string | null,
): "root" | "hook" | "relayed" {
  if (changeSlots[slot].by === "root") return "root";
  const lease = liveLease(loaded.state.leases, slot);
  return lease !== undefined && file === null && wasSeenStopping(engine, loaded.folder, lease) ? "hook" : "relayed";
}
