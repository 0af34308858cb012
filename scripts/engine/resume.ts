/** Resuming: which run, whose, claimed or reattached, settled, and what is next. */
import { join } from "node:path";
import type { InvocationForm } from "../core/head.ts";
import { LINE_BYTES_MAX } from "../core/line.ts";
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { liveLease } from "../parts/lease.ts";
import { readPrefix, syncFolder } from "../platform/files.ts";
import { adopt, checkForeign } from "./adopt.ts";
import { changeOf, decideAs, tokenOf } from "./change-run.ts";
import type { Engine } from "./context.ts";
import { requireTrust, requireWord } from "./human.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { LOG_NAME } from "./log.ts";
import { checkPlace } from "./moved.ts";
import type { ReadOriginal } from "./originals.ts";
import { claimEvent, ownership, refuseOwned } from "./owning.ts";
import { conclude, type Proceeded, proceed } from "./proceed.ts";
import { type Found, type FoundRun, findRun, findRuns } from "./runs.ts";
import { selectRun } from "./select.ts";
import { load, transact } from "./transact.ts";
import { markTrusted } from "./trust.ts";

export interface ResumeWish {
  readonly run: string | null;
  readonly claim: string | null;
  readonly newest: boolean;
  readonly takeOver: boolean;
  readonly trust: boolean;
  readonly readopt: boolean;
  readonly redo: string | null;
  readonly waitMs: number;
  readonly headless: boolean;
}

export interface Resumed extends Proceeded {
  readonly id: string;
  /** What the original wrote, as this command has read it. */
  readonly original: ReadOriginal | null;
}

/** Null: nothing to resume; `unreadable` then names what lies there all the same. */
export type ResumeOutcome =
  | { readonly run: Resumed }
  | {
      readonly run: null;
      readonly unreadable: readonly { readonly id: string; readonly why: string }[];
      readonly searched: readonly string[];
      /** Places that are there and may not be looked into. */
      readonly notRead: readonly { readonly root: string; readonly why: string }[];
    };

export async function resume(engine: Engine, wish: ResumeWish): Promise<Result<ResumeOutcome, Refusal>> {
  const found = findRuns(engine, wish.run === null ? "unfinished" : { only: wish.run });
  const chosen = selectRun(engine, found, wish);
  if (!chosen.ok) return chosen;
  if (chosen.value === null) {
    const unreadable = found.runs.map(({ view }) => ({ id: view.id, why: view.why }));
    const notRead = found.places.flatMap(({ root, why }) => (why === undefined ? [] : [{ root, why }]));
    return ok({ run: null, unreadable, searched: found.searched, notRead });
  }
  const resumed = await resumeRun(engine, found, chosen.value, wish);
  return resumed.ok ? ok({ run: resumed.value }) : resumed;
}

/** Resumes one run that was found. Refuses what trust, adoption, ownership and the kind refuse. */
export async function resumeRun(
  engine: Engine,
  found: Pick<Found, "commonDir">,
  run: FoundRun,
  wish: ResumeWish,
): Promise<Result<Resumed, Refusal>> {
  const did: string[] = [];
  // Also of a finished one: telling its result writes beside it. One that cannot be read is trusted only to be forked.
  if (!run.trusted && (run.unreadable === null || wish.trust)) {
    const word = wish.trust ? requireTrust(engine, run.folder.atlas, run.view.id) : refuseUntrusted(run);
    if (!word.ok) return word;
    markTrusted(engine, run.folder.atlas, run.view.id);
  }
  let { folder } = run;
  if (run.unreadable !== null) return unreadableRun(run, run.unreadable);
  if (run.loaded === null) {
    const adopted = adoptRun(engine, found, run, wish.headless ? "headless" : "interactive");
    if (!adopted.ok) return adopted;
    folder = adopted.value;
    did.push("adopted");
  }
  const read = load(engine, folder);
  if (!read.ok) return read;
  if (read.value.headline.terminal) return finished(engine, run, read.value, did);
  const here = checkPlace(engine, read.value);
  if (!here.ok) return here;
  const foreign = checkForeign(engine, read.value, run.original);
  if (!foreign.ok) {
    if (!wish.readopt) return foreign;
    return readopt(engine, found, run, read.value, wish);
  }
  const claimed = claim(engine, folder, wish);
  if (!claimed.ok) return claimed;
  did.push(...claimed.value.did);
  const token = tokenOf(claimed.value.loaded);
  if (wish.redo !== null) {
    const redone = redo(engine, folder, token, wish.redo);
    if (!redone.ok) return redone;
    did.push(`ended the lease of ${wish.redo} (redo)`);
  }
  const proceeded = await proceed(engine, folder, {
    claim: token,
    waitMs: wish.waitMs,
    awaitMs: wish.waitMs,
    mends: true,
  });
  if (!proceeded.ok) return proceeded;
  return asResumed(ok({ ...proceeded.value, did: [...did, ...proceeded.value.did] }), run);
}

/** Its result is told again. What the human chose after its end is still owed where that was cut off: it needs no claim. */
async function finished(
  engine: Engine,
  run: FoundRun,
  loaded: Loaded,
  did: readonly string[],
): Promise<Result<Resumed, Refusal>> {
  const { delivery = null } = loaded.state as Partial<ChangeState>;
  if (delivery === null || delivery.done) return asResumed(conclude(engine, loaded, did), run);
  const proceeded = await proceed(engine, loaded.folder, { claim: tokenOf(loaded) });
  return asResumed(proceeded.ok ? ok({ ...proceeded.value, did: [...did, ...proceeded.value.did] }) : proceeded, run);
}

function asResumed(result: Result<Proceeded, Refusal>, run: FoundRun): Result<Resumed, Refusal> {
  return result.ok ? ok({ ...result.value, id: run.folder.id, original: run.original }) : result;
}

function refuseUntrusted(run: FoundRun): Result<never, Refusal> {
  const why =
    run.view.why === "untrusted.tracked"
      ? "git tracks it, so it came with the repository"
      : run.view.why === "untrusted.owner"
        ? "it belongs to another user"
        : "it came from elsewhere";
  return refuse(
    "run.untrusted",
    `run ${run.view.id} was not written by this user's runs: ${why}`,
    `atlas resume --run ${run.view.id} --trust`,
  );
}

export function unreadableRun(run: FoundRun, why: NonNullable<FoundRun["unreadable"]>): Result<never, Refusal> {
  return refuse(why.code, `run ${run.view.id} cannot be read: ${why.reason}`, "atlas doctor");
}

/** Two may adopt at once: the one whose folder landed was first, and the other goes on with that. */
function adoptRun(
  engine: Engine,
  found: Pick<Found, "commonDir">,
  run: FoundRun,
  form: InvocationForm,
): Result<RunFolder, Refusal> {
  const adopted = adopt(engine, run, found, form);
  if (adopted.ok || adopted.error.code !== "run.exists") return adopted;
  return ok({ ...run.folder, ledger: join(run.folder.atlas, run.folder.id, "adopted"), adopted: true });
}

/** The superseded adoption is put aside, whole; the human's word for exactly this claim is needed. */
async function readopt(
  engine: Engine,
  found: Pick<Found, "commonDir">,
  run: FoundRun,
  loaded: Loaded,
  wish: ResumeWish,
): Promise<Result<Resumed, Refusal>> {
  const own = ownership(engine, loaded.state.head, wish.claim);
  if (own === "foreign") return refuseOwned(loaded);
  const word = requireWord(engine, loaded.folder, loaded.state.head, "readopt");
  if (!word.ok) return word;
  const home = join(run.folder.atlas, run.folder.id);
  engine.fs.renameSync(loaded.folder.ledger, join(home, `adopted.before-${engine.moment.fresh("readopt")}`));
  syncFolder(engine.fs, home);
  const again = findRun(engine, run.view.id);
  if (again === null) return refuse("run.unknown", `run ${run.view.id} is gone`, "atlas status");
  return resumeRun(engine, found, again, { ...wish, readopt: false });
}

interface Claimed {
  readonly loaded: Loaded;
  readonly did: readonly string[];
}

/** Reattaches or claims; decided on the fold the claim line lands behind, so of many at once exactly one wins. */
export function claim(
  engine: Engine,
  folder: RunFolder,
  wish: Pick<ResumeWish, "claim" | "takeOver">,
): Result<Claimed, Refusal> {
  const did: string[] = [];
  const done = transact(engine, folder, (loaded) => {
    did.length = 0;
    const { head } = loaded.state;
    if (loaded.headline.terminal) return ok(null);
    const own = ownership(engine, head, wish.claim);
    if (own === "ours") {
      did.push(`reattached epoch ${head.epoch}`);
      return ok(null);
    }
    if (own === "foreign") {
      if (!wish.takeOver) return refuseOwned(loaded);
      const word = requireWord(engine, folder, head, "take-over");
      if (!word.ok) return word;
      did.push(`took over epoch ${head.epoch + 1}`);
      return ok([claimEvent(engine, loaded, "take-over", [], word.value)]);
    }
    const carried = own === "ours-released" ? liveTokens(loaded) : [];
    did.push(`claimed epoch ${head.epoch + 1}`, ...tornTail(engine, loaded));
    return ok([claimEvent(engine, loaded, head.released ? "released" : "resume", carried)]);
  });
  return done.ok ? ok({ loaded: done.value.loaded, did }) : done;
}

/** What a crash left behind the last whole line. Nobody was told that it had succeeded, and the next line closes it. */
function tornTail(engine: Engine, { folder, tip }: Loaded): readonly string[] {
  const tail = readPrefix(engine.fs, join(folder.ledger, LOG_NAME), LINE_BYTES_MAX, tip.offset);
  const bytes = tail?.filter((byte) => byte !== 0x0a && byte !== 0x0d).length ?? 0;
  return bytes === 0 ? [] : [`passed over ${bytes} bytes behind line ${tip.seq}: never whole, never acknowledged`];
}

function liveTokens(loaded: Loaded): readonly string[] {
  const { leases } = loaded.state as Partial<ChangeState>;
  return (leases?.live ?? []).filter((lease) => !lease.orphaned).map((lease) => lease.lease);
}

/** The human says an agent is gone: its lease ends, and handing out again is charged again. */
function redo(engine: Engine, folder: RunFolder, token: string, slot: string): Result<null, Refusal> {
  const done = decideAs(engine, folder, token, (loaded) => {
    const run = changeOf(loaded);
    if (!run.ok) return run;
    const lease = liveLease(loaded.state.leases, slot);
    if (lease === undefined) return refuse("lease.none", `no lease of slot ${slot} is out`, "atlas next");
    return ok({ do: "end-lease", lease: lease.lease, why: "redo" });
  });
  return done.ok ? ok(null) : done;
}
