/**
 * Settling: everything that follows from the ledger without a model or a human is recorded, probed and performed, one
 * line at a time. It is the second half of every command; there is no other recovery.
 */
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import type { EffectOutcome } from "../kinds/change/decide.ts";
import { change } from "../kinds/change/kind.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { effectKey, wantedCommand } from "../kinds/change/state.ts";
import type { WeaveState } from "../kinds/weave/kind.ts";
import { weave } from "../kinds/weave/kind.ts";
import { type TreeOutcome, treeEffectKey } from "../parts/tree.ts";
import { isPerformerAlive } from "../platform/performer-client.ts";
import { identityOf } from "../platform/processes.ts";
import { decideAs } from "./change-run.ts";
import { lookAtCommand } from "./command-run.ts";
import { composeEvidence } from "./compose-evidence.ts";
import type { Engine } from "./context.ts";
import { deliver } from "./deliver.ts";
import { perform } from "./effects.ts";
import { readObserved } from "./human.ts";
import { judgement } from "./judge.ts";
import { type Loaded, loadRun, type RunFolder, refuseUnreadable } from "./ledger.ts";
import { checkClaim } from "./owning.ts";
import { probeLease } from "./results.ts";
import { mendTornTree } from "./torn-tree.ts";
import { type Transaction, transact } from "./transact.ts";

/** What one settling did, in ids and enumerations: `resume` prints it. */
export interface Settled<S = ChangeState> {
  readonly loaded: Loaded & { readonly state: S };
  readonly did: readonly string[];
}

/** Another command recorded it first: look again. */
const overtaken = "";
/** A run settles in far fewer lines; more means a rule that never comes to rest. */
const stepsMax = 2000;

export interface Settling {
  readonly engine: Engine;
  readonly folder: RunFolder;
  readonly claim: string | null;
  /** How long a running command may be waited for. */
  readonly waitMs: number;
  readonly now: number;
  /** Somebody comes back to the run: what the power may have torn is looked at. */
  readonly mends?: boolean;
}

export async function settleChange(settling: Settling): Promise<Result<Settled, Refusal>> {
  const did: string[] = [];
  for (let step = 0; step < stepsMax; step += 1) {
    const read = loadRun(settling.engine.fs, settling.folder);
    if (!read.ok) return refuseUnreadable(settling.folder, read.unreadable);
    const loaded = read.loaded as Loaded<ChangeState>;
    const moved = await settleOnce(settling, loaded);
    if (!moved.ok) return moved;
    if (moved.value === null) return ok({ loaded, did });
    if (moved.value !== overtaken) did.push(moved.value);
  }
  throw new Error(`run ${settling.folder.id} does not come to rest`);
}

/** One step; null: there is nothing left to settle. */
async function settleOnce(settling: Settling, loaded: Loaded<ChangeState>): Promise<Result<string | null, Refusal>> {
  const { engine, folder, claim } = settling;
  const { state } = loaded;
  const observed = takeObserved(settling, loaded);
  if (observed !== null) return observed;
  const lease = await settleLeases(settling, loaded);
  if (lease !== null) return lease;
  const settled = decideAs(engine, folder, claim, { do: "settle" });
  if (!settled.ok) return settled;
  if (settled.value.recorded) return ok(`settled ${settled.value.loaded.state.phase.at}`);
  if (state.phase.at === "critique" && !Object.values(state.phase.critics).includes("open")) {
    const judged = decideAs(engine, folder, claim, (now) =>
      ok(judgement(engine, now, state.phase.at === "critique" ? state.phase.pass : 0)),
    );
    return judged.ok ? ok(judged.value.recorded ? "judged" : overtaken) : judged;
  }
  // Before the effect: a command must not run in a torn tree.
  const mended = settling.mends === true ? mendTornTree(engine, loaded) : null;
  return mended === null ? settleEffect(settling, loaded) : ok(mended);
}

async function settleEffect(settling: Settling, loaded: Loaded<ChangeState>): Promise<Result<string | null, Refusal>> {
  const { engine, folder, claim } = settling;
  const { state } = loaded;
  const [effect] = change.owed(loaded.state);
  if (effect === undefined) return settleEvidence(settling, loaded);
  if (effect.effect === "run-command") {
    const standing = await lookAtCommand(engine, loaded, settling.waitMs);
    if (standing.is === "running") return ok(null);
    const nonce = state.effect?.ticket?.nonce;
    const ended = decideAs(engine, folder, claim, {
      do: "finish",
      effect,
      outcome: standing.outcome,
      ...(nonce === undefined ? {} : { nonce }),
    });
    if (!ended.ok) return ended;
    if (!ended.value.recorded) return ok(overtaken);
    return ok(standing.outcome.of === "lost" ? `${effect.of} lost` : `${effect.of} recorded`);
  }
  const begun = beginShort(settling, effectKey(effect));
  if (!begun.ok) return begun;
  if (!begun.value.recorded) return ok(overtaken);
  const outcome =
    effect.effect === "deliver"
      ? deliver(engine, begun.value.loaded, effect.choice)
      : perform(engine, begun.value.loaded, effect);
  const ended = decideAs(engine, folder, claim, { do: "finish", effect, outcome });
  if (!ended.ok) return ended;
  if (!ended.value.recorded) return ok(overtaken);
  return ok(`${effectKey(effect)}${detailOf(outcome)}`);
}

/** Once every command of the pass has ended, what they left becomes its evidence; a run without a command has none. */
function settleEvidence(settling: Settling, loaded: Loaded<ChangeState>): Result<string | null, Refusal> {
  const { engine, folder, claim } = settling;
  const { phase } = loaded.state;
  if (phase.at !== "verify" || wantedCommand(loaded.state) !== null) return ok(null);
  const recorded = decideAs(engine, folder, claim, composeEvidence(engine, loaded, phase.pass));
  return recorded.ok ? ok(recorded.value.recorded ? "evidence recorded" : overtaken) : recorded;
}

/** Where a tree was kept, or why it was left; never a name that lies in it. */
function detailOf(outcome: EffectOutcome): string {
  if (outcome.of === "keep-tree") return ` ${outcome.ref}`;
  if (outcome.of !== "left") return "";
  const why = outcome.why.split(":")[0] ?? "";
  return /^[a-z_. -]+$/i.test(why) ? ` left (${why})` : " left";
}

/** A short effect that another living process performs is its own: we step back. Gone: taken over and probed. */
function beginShort(settling: Settling, key: string): Result<Transaction<ChangeState>, Refusal> {
  const { engine, folder, claim } = settling;
  const performer = identityOf(engine.processes, process.pid) ?? engine.processes.place;
  return decideAs(engine, folder, claim, (now) => {
    const { effect } = now.state;
    if (effect !== null && isPerformerAlive(engine.processes, effect.performer, engine.exclusive)) {
      return refuse(
        "effect.running",
        `another process performs ${effect.key} for this run`,
        `atlas resume --run ${folder.id}`,
      );
    }
    return ok({ do: "begin", key, performer });
  });
}

/** Starts a hook saw are taken into the ledger: a started agent is waited for, not printed again. */
function takeObserved(settling: Settling, loaded: Loaded<ChangeState>): Result<string, Refusal> | null {
  const unstarted = new Set(loaded.state.leases.live.filter((lease) => !lease.started).map((lease) => lease.lease));
  if (unstarted.size === 0) return null;
  const seen = readObserved(settling.engine, settling.folder).find(
    (one) => one.type === "started" && unstarted.has(one.lease),
  );
  if (seen === undefined || seen.type !== "started") return null;
  const taken = decideAs(settling.engine, settling.folder, settling.claim, { do: "started", lease: seen.lease });
  return taken.ok ? ok(`started ${seen.lease}`) : taken;
}

/** Results that lie there are taken; orphaned leases without one end; deadlines that passed end their lease. */
async function settleLeases(settling: Settling, loaded: Loaded<ChangeState>): Promise<Result<string, Refusal> | null> {
  const { engine, folder, claim, now } = settling;
  for (const lease of loaded.state.leases.live) {
    const probe = probeLease(engine, loaded, lease);
    if (probe.is === "taken") {
      const taken = decideAs(engine, folder, claim, probe.command);
      return taken.ok ? ok(`took ${lease.lease}`) : unlessOvertaken(taken);
    }
    // A file the root is still writing is no answer yet; one a hook wrote, or of a dead turn, is final.
    if (probe.is === "malformed" && (probe.final || lease.orphaned)) {
      const failed = decideAs(engine, folder, claim, {
        do: "fail",
        slot: lease.slot,
        how: "error",
        stopped: true,
        of: lease.lease,
      });
      return failed.ok ? ok(`ended ${lease.lease} (${probe.code})`) : unlessOvertaken(failed);
    }
    if (lease.orphaned) {
      const ended = decideAs(engine, folder, claim, { do: "end-lease", lease: lease.lease, why: "lost" });
      return ended.ok ? ok(`ended ${lease.lease} (lost)`) : ended;
    }
    if (Date.parse(lease.deadline) <= now && (loaded.state.isolated || lease.slot !== "coder")) {
      const failed = decideAs(engine, folder, claim, {
        do: "fail",
        slot: lease.slot,
        how: "timeout",
        stopped: false,
        of: lease.lease,
      });
      return failed.ok ? ok(`ended ${lease.lease} (timeout)`) : unlessOvertaken(failed);
    }
  }
  return null;
}

/** Another command ended this lease since it was looked at: nothing is wrong, the next look sees what stands. */
function unlessOvertaken(refused: Result<never, Refusal>): Result<string, Refusal> {
  const isOver = !refused.ok && (refused.error.code === "lease.stale" || refused.error.code === "lease.none");
  return isOver ? ok(overtaken) : refused;
}

/** A graph run, as far as this release goes: trees of its dead turn are kept and cleaned. */
export function settleWeave(settling: Settling): Result<Settled<WeaveState>, Refusal> {
  const { engine, folder, claim } = settling;
  const did: string[] = [];
  for (let step = 0; step < stepsMax; step += 1) {
    const read = loadRun(engine.fs, folder);
    if (!read.ok) return refuseUnreadable(folder, read.unreadable);
    const loaded = read.loaded as Loaded<WeaveState>;
    const [effect] = weave.owed(loaded.state);
    if (effect === undefined) return ok({ loaded, did });
    const performer = identityOf(engine.processes, process.pid) ?? engine.processes.place;
    const decide = (command: Parameters<typeof weave.decide>[1]) =>
      transact<WeaveState>(engine, folder, (now) => {
        const claimed = checkClaim(engine, now, claim);
        if (!claimed.ok) return claimed;
        const begun = now.state.effect;
        if (
          command.do === "begin" &&
          begun !== null &&
          isPerformerAlive(engine.processes, begun.performer, engine.exclusive)
        ) {
          return refuse("effect.running", `another process performs ${begun.key}`, `atlas resume --run ${folder.id}`);
        }
        return weave.decide(now.state, command, engine.moment);
      });
    const begun = decide({ do: "begin", key: treeEffectKey(effect), performer });
    if (!begun.ok) return begun;
    if (!begun.value.recorded) continue;
    const outcome = perform(engine, begun.value.loaded, effect);
    if (!isTreeOutcome(outcome)) throw new Error("not a tree's outcome");
    const ended = decide({ do: "finish", effect, outcome });
    if (!ended.ok) return ended;
    if (ended.value.recorded) did.push(`${treeEffectKey(effect)}${detailOf(outcome)}`);
  }
  throw new Error(`run ${folder.id} does not come to rest`);
}

function isTreeOutcome(outcome: EffectOutcome): outcome is TreeOutcome {
  return (
    outcome.of !== "take-base" && outcome.of !== "run-command" && outcome.of !== "deliver" && outcome.of !== "lost"
  );
}
