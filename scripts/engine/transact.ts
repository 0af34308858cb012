/**
 * One decision: fold, decide, append; a lost race folds and decides again. Nothing else writes a log.
 */
import type { EventBase } from "../core/kind.ts";
import { LINE_VERSION, type Line, sealLine } from "../core/line.ts";
import { type NonEmpty, ok, type Refusal, type Result, refuse } from "../core/result.ts";
import { sha256 } from "../platform/hash.ts";
import type { Engine } from "./context.ts";
import { type AnyState, mustFit } from "./kinds.ts";
import { type Loaded, loadRun, type RunFolder, refuseUnreadable, withLine, writeSnapshot } from "./ledger.ts";
import { appendLine } from "./log.ts";
import { writeViews } from "./views.ts";
import { witnessLine } from "./witness.ts";

/** Lost races before the command gives up. */
const racesMax = 200;

export interface Transaction<S extends AnyState> {
  readonly loaded: Loaded<S>;
  /** False: there was nothing to record. */
  readonly recorded: boolean;
}

/** Loads and folds; an unreadable ledger is a refusal with the way out. */
export function load(engine: Engine, folder: RunFolder): Result<Loaded> {
  const read = loadRun(engine.fs, folder);
  return read.ok ? ok(read.loaded) : refuseUnreadable(folder, read.unreadable);
}

/**
 * Appends the events `decide` gives for the current fold, all in one line, and hands back the fold after it.
 * Refuses with what `decide` refuses, and `ledger.contended`.
 */
export function transact<S extends AnyState = AnyState>(
  engine: Engine,
  folder: RunFolder,
  decide: (loaded: Loaded<S>) => Result<NonEmpty<EventBase> | null, Refusal>,
): Result<Transaction<S>> {
  for (let race = 0; race < racesMax; race += 1) {
    const read = load(engine, folder);
    if (!read.ok) return read;
    const loaded = read.value as Loaded<S>;
    const decision = decide(loaded);
    if (!decision.ok) return decision;
    if (decision.value === null) return ok({ loaded, recorded: false });
    const after = append(engine, loaded, decision.value);
    if (after !== null) return ok({ loaded: after as Loaded<S>, recorded: true });
    pause(race);
  }
  return refuse("ledger.contended", `run ${folder.id} is written by too many at once`, "atlas next");
}

/** Null: another line holds the place. */
function append(engine: Engine, loaded: Loaded, events: NonEmpty<EventBase>): Loaded | null {
  const stage = (events.find((event) => event.type === "stage") as { stage?: string } | undefined)?.stage;
  const { seq, sum: prev } = loaded.tip;
  const claimed = events.find((event) => event.type === "claimed") as { epoch?: number } | undefined;
  const body = {
    v: LINE_VERSION,
    seq: seq + 1,
    prev,
    ts: new Date(engine.moment.now).toISOString(),
    run_id: loaded.folder.id,
    ...(stage === undefined ? {} : { stage }),
    by: {
      verb: engine.verb,
      pid: process.pid,
      session: engine.self.session,
      epoch: claimed?.epoch ?? loaded.state.head.epoch,
    },
    events,
  };
  const { text, sum } = sealLine(body, sha256);
  const line: Line<EventBase> = { ...body, sum };
  mustFit(loaded.kind, events);
  // The kind folds the line before it is written: an illegal one never lands.
  const after = withLine(loaded, line, loaded.tip.offset);
  const last = events.some((event) => event.type === "abandoned");
  const appended = appendLine(engine.fs, loaded.folder.ledger, loaded.tip, { text, sum, last });
  if (appended === "lost") return null;
  if (appended.won === null) {
    // Others have appended behind us already: what stands now is read again by the next command.
    return after;
  }
  const standing = { ...after, tip: appended.won };
  witnessLine(engine, loaded.folder, loaded.tip, standing.tip);
  writeSnapshot(engine.fs, standing);
  writeViews(engine, standing);
  return standing;
}

/** A jittered pause on the main thread: two losers must not meet again in step. */
function pause(race: number): void {
  const milliseconds = Math.random() * Math.min(50, 2 ** Math.min(race, 6));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
