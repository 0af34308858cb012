/**
 * Whether a turn may end: not while the session's own run waits for its model. Held up once for each line of the run,
 * so that a model that cannot go on is let go, and one that went on is reminded again.
 */
import { readChain } from "../core/line.ts";
import { readBounded } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { HOOK_LOG_BYTES_MAX, type PeekedRun } from "../platform/peek.ts";
import { type Nudge, readSession, stateFolder, writeSession } from "../platform/sessions.ts";
import { shortSha256 } from "../platform/short-hash.ts";
import type { Reply } from "./event.ts";
import { blankRecord, cwdOf, nothing, type Occasion } from "./occasion.ts";
import { goOnText, type SpokenRun } from "./pointer.ts";
import type { World } from "./policy.ts";
import { hostIdentity, lookAround, type Surroundings, trustedPlaces } from "./world.ts";

/** Kinds that hand their steps to a model. A graph is only looked at in this release. */
const steppedKinds: ReadonlySet<string> = new Set(["change"]);

export function onTurnEnd(around: Surroundings, occasion: Occasion): Reply {
  const { host, session } = occasion;
  const state = stateFolder(around.env);
  const record = readSession(around.fs, state, session);
  const places = trustedPlaces(around, cwdOf(occasion, record), record);
  if (places.length === 0) return nothing;
  const identity = hostIdentity(around, host);
  const run = ownRun(lookAround(around, places, session, identity, null));
  if (run?.ours == null || isNudged(run, record?.nudged ?? null) || !owesModelStep(around.fs, run)) return nothing;
  const before = record ?? { ...blankRecord(occasion), ...identity };
  // What cannot be remembered is not said: it would be said for ever.
  if (!writeSession(around.fs, state, { ...before, nudged: { run: run.id, seq: run.ours.tip.seq } })) return nothing;
  return { say: "go-on", text: goOnText(run.id, host.commandWords(occasion.pluginRoot, session), shortSha256) };
}

/** The run the turn would leave behind: this very session's own, and the newest one where it has several. */
function ownRun(world: World): PeekedRun | null {
  return world.runs.find(isStepped)?.run ?? null;
}

function isStepped({ run, owner, tracked }: SpokenRun): boolean {
  return owner === "ours" && run.trusted && !tracked && run.ours !== null && steppedKinds.has(run.kind);
}

/** Held up at this very line before. */
function isNudged(run: PeekedRun, last: Nudge | null): boolean {
  return last !== null && last.run === run.id && last.seq === run.ours?.tip.seq;
}

/** False as well where it cannot be told: a question may be open. */
function owesModelStep(fs: FileSystem, run: PeekedRun): boolean {
  if (run.ours === null || run.terminal) return false;
  const { log, from, tip } = run.ours;
  const read = readBounded(fs, log, HOOK_LOG_BYTES_MAX, from.offset);
  if (read.kind !== "file") return false;
  const chain = readChain<{ readonly type: string }>(read.bytes, null, from);
  if (chain.end.at !== "end" || chain.tip.seq !== tip.seq) return false;
  // A log's part may begin behind the question.
  let isAsking = from.seq > 0;
  for (const { type } of chain.lines.flatMap((line) => line.events)) {
    if (type === "asked") isAsking = true;
    else if (closesQuestion.has(type)) isAsking = false;
  }
  return !isAsking;
}

const closesQuestion: ReadonlySet<string> = new Set(["answered", "rolled-back", "forked"]);
