/** Whether a run is ours to act on, and the claim that makes it so. */
import type { Grade, Head, HeadEvent } from "../core/head.ts";
import { claimToken } from "../core/head.ts";
import { isSameProcess, liveness } from "../core/owner.ts";
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import { type Engine, sight } from "./context.ts";
import { isMadeOfProcess } from "./identify.ts";
import type { Loaded } from "./ledger.ts";

export type Ownership =
  /** The recorded process itself, its claim unreleased: no line, same epoch. */
  | "ours"
  /** Free to claim: released, never owned, or its owner is provably gone. */
  | "free"
  /** The recorded process itself after a release (`/clear`): claimed, and live leases are carried over. */
  | "ours-released"
  /** A living process that is not us, or one whose death cannot be proved. */
  | "foreign";

/** `claim`: a current token in the caller's hand reattaches the recorded process whatever session was derived. */
export function ownership(engine: Engine, head: Head, claim: string | null): Ownership {
  if (head.owner === null) return "free";
  const standing = liveness(head.owner, sight(engine, head.owner));
  if (head.released) return standing === "ourselves" ? "ours-released" : "free";
  if (standing === "gone") return "free";
  if (standing === "alive") return "foreign";
  const recorded = head.owner.session;
  // A session made of the process is what was known before the host named one: the same owner.
  const sameSession = recorded === null || recorded === engine.self.session || isMadeOfProcess(recorded);
  return sameSession || claim === claimToken(head) ? "ours" : "foreign";
}

/** The claiming event: the next epoch, by this process. */
export function claimEvent(
  engine: Engine,
  loaded: Loaded,
  why: Extract<HeadEvent, { type: "claimed" }>["why"],
  carried: readonly string[],
  grade?: Grade,
): HeadEvent {
  return {
    type: "claimed",
    epoch: loaded.state.head.epoch + 1,
    version: loaded.kind.version,
    owner: engine.self,
    why,
    carried,
    exclusive: engine.exclusive,
    ...(grade === undefined ? {} : { grade }),
  };
}

/** Who holds a run and since when; ids and numbers only. */
export function refuseOwned(loaded: Loaded): { readonly ok: false; readonly error: Refusal } {
  const { owner, claimedAt, exclusive } = loaded.state.head;
  const who = owner?.pid === null || owner === null ? "a process that cannot be told" : `process ${owner.pid}`;
  const host = owner?.host === "claude" ? "Claude Code" : owner?.host === "kimi" ? "Kimi Code" : "a host";
  const hint = exclusive ? " It was claimed with ATLAS_EXCLUSIVE=1." : "";
  return refuse(
    "run.owned",
    `run ${loaded.folder.id} belongs to ${who} (${host}) since ${claimedAt ?? "unknown"}.${hint} Leave it, unless that session is yours and gone`,
    `atlas resume --run ${loaded.folder.id} --take-over`,
  );
}

/**
 * A command of an older epoch changes nothing. Without a token only the recorded process itself may go on.
 * Refuses `claim.stale`, `claim.missing`, `run.owned`.
 */
export function checkClaim(engine: Engine, loaded: Loaded, claim: string | null): Result<null, Refusal> {
  const { head } = loaded.state;
  const fix = `atlas resume --run ${loaded.folder.id}`;
  if (claim !== null) {
    if (claim === claimToken(head) && !head.released) return ok(null);
    return refuse("claim.stale", `the claim given is not the run's claim any more; nothing was changed`, fix);
  }
  if (head.owner !== null && !head.released && isSameProcess(head.owner, engine.self)) return ok(null);
  if (ownership(engine, head, null) === "foreign") return refuseOwned(loaded);
  return refuse("claim.missing", "this command needs the run's claim", fix);
}
