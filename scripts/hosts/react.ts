/**
 * What one event leads to: what is recorded, and what is said. Every record is a hint; a disk that refuses one
 * costs the hint, never the session.
 */

import { type LeaseLine, leaseOfMessage, leaseOfPrompt } from "../core/lease-line.ts";
import { knowRun, markTold } from "../platform/known-runs.ts";
import {
  endSession,
  readSession,
  type SessionRecord,
  sessionsOfProcess,
  stateFolder,
  writeSession,
} from "../platform/sessions.ts";
import { shortSha256 } from "../platform/short-hash.ts";
import { onChoice } from "./choice.ts";
import { editRefusal } from "./edit-guard.ts";
import type { HostEvent, Reply } from "./event.ts";
import { observe, writeResult } from "./observe.ts";
import { blankRecord, by, cwdOf, nothing, type Occasion } from "./occasion.ts";
import { pointerText } from "./pointer.ts";
import { pointerParts, pointerTurn, typedAnswers, type World } from "./policy.ts";
import { endReason, release } from "./release.ts";
import { exportSession } from "./session-variable.ts";
import { strayReason } from "./tree-guard.ts";
import { onTurnEnd } from "./turn-end.ts";
import {
  type HostIdentity,
  hostIdentity,
  lookAround,
  lostAround,
  ownHome,
  type Surroundings,
  trustedPlaces,
} from "./world.ts";

export function react(around: Surroundings, occasion: Occasion): Reply {
  const { event } = occasion;
  switch (event.on) {
    case "session-start":
      return onSessionStart(around, occasion, event.source);
    case "compacted":
      return onCompacted(around, occasion);
    case "prompt":
      return onPrompt(around, occasion, event.text);
    case "session-end":
      return onSessionEnd(around, occasion, event.reason);
    case "agent-start":
      return onAgentStart(around, occasion, leaseOfPrompt(event.prompt));
    case "agent-stop":
      return onAgentStop(around, occasion, event.role, event.text);
    case "edit":
      return onEdit(around, occasion, event);
    case "choice":
      return onChoice(around, occasion, event);
    case "turn-end":
      return onTurnEnd(around, occasion);
  }
}

function onSessionStart(around: Surroundings, occasion: Occasion, source: string): Reply {
  const { host, session, event } = occasion;
  const state = stateFolder(around.env);
  const identity = hostIdentity(around, host);
  const known = readSession(around.fs, state, session);
  const renamed = source === "compact" && known === null ? soleSession(around, identity) : null;
  // The conversation goes on under another id: what the first one owns is released, for this very process to claim.
  if (renamed !== null) onSessionEnd(around, { ...occasion, session: renamed.session }, "renamed");
  const record = known ?? (renamed === null ? null : { ...renamed, session });
  const places = trustedPlaces(around, occasion.cwd, record);
  const seenAround = lookAround(around, places, session, identity, record);
  const lost = lostAround(around, occasion.cwd, record);
  const unheard = lost.filter(({ id, told }) => !told && !seenAround.vanished.some((run) => run.id === id));
  const world = { ...seenAround, vanished: [...seenAround.vanished, ...unheard] };
  // After a compaction the host has its shell's variables already and would not read them again.
  if (host.exportsVariable !== null && source !== "compact" && source !== "other") {
    exportSession(around.fs, around.env[host.exportsVariable], session);
  }
  const turn = pointerTurn(event, record, host, isPointerAtPrompt(around));
  const said = turn === "now";
  const kept = said ? [] : world.vanished;
  const seen = world.runs.map(({ run }) => ({ root: rootOf(run.folder), id: run.id }));
  for (const { root, id } of seen) knowRun(around.fs, state, root, id);
  // Said now, or with this session's next prompt.
  for (const run of lost) markTold(around.fs, run);
  const names = said && pointerParts(world, session).resumable.length > 0;
  writeSession(around.fs, state, {
    ...(record ?? blankRecord(occasion)),
    pid: identity.pid,
    start: identity.start,
    cwd: occasion.cwd,
    places: [...new Set([...(record?.places ?? []), ...places.map((place) => place.root)])],
    runs: [...kept.map(({ root, id }) => ({ root, id })), ...seen.reverse()],
    ...(names ? { told: "start" as const } : {}),
    // A run that vanished is worth a word even where a session's start is not heard. And a host may drop what a start
    // says: until a command shows that it was heard, the next prompt says it once more.
    owed: names || (!said && (turn === "owed" || kept.length > 0 || record?.owed === true)),
    ended: false,
  });
  return said ? pointer(occasion, world) : nothing;
}

function onCompacted(around: Surroundings, occasion: Occasion): Reply {
  const state = stateFolder(around.env);
  const record = readSession(around.fs, state, occasion.session);
  const turn = pointerTurn(occasion.event, record, occasion.host, isPointerAtPrompt(around));
  const before = record ?? { ...blankRecord(occasion), ...hostIdentity(around, occasion.host) };
  writeSession(around.fs, state, {
    ...before,
    compactions: before.compactions + 1,
    owed: before.owed || turn === "owed",
  });
  if (turn !== "now") return nothing;
  const places = trustedPlaces(around, cwdOf(occasion, record), record);
  const identity = hostIdentity(around, occasion.host);
  return pointer(occasion, lookAround(around, places, occasion.session, identity, null));
}

function onPrompt(around: Surroundings, occasion: Occasion, text: string): Reply {
  const state = stateFolder(around.env);
  const record = readSession(around.fs, state, occasion.session);
  const answers = typedAnswers(text);
  const turn = pointerTurn(occasion.event, record, occasion.host, isPointerAtPrompt(around));
  if (answers.length === 0 && turn !== "now") return nothing;
  const places = trustedPlaces(around, cwdOf(occasion, record), record);
  const world = lookAround(around, places, occasion.session, hostIdentity(around, occasion.host), record);
  for (const { run } of world.runs) {
    if (run.home === null || !run.trusted) continue;
    // The engine knows which nonce is open; a run that asked nothing ignores the line.
    for (const answer of answers) observe(around.fs, run.home, { type: "typed", ...answer }, by(occasion));
  }
  if (record !== null) {
    const gone = new Set(world.vanished);
    writeSession(around.fs, state, {
      ...record,
      typed: [...record.typed, ...answers],
      ...(turn === "now"
        ? { told: "prompt" as const, owed: false, runs: record.runs.filter((run) => !gone.has(run)) }
        : {}),
    });
  }
  return turn === "now" ? pointer(occasion, world) : nothing;
}

function onSessionEnd(around: Surroundings, occasion: Occasion, reason: string): Reply {
  const state = stateFolder(around.env);
  const record = readSession(around.fs, state, occasion.session);
  const places = trustedPlaces(around, cwdOf(occasion, record), record);
  const world = lookAround(around, places, occasion.session, hostIdentity(around, occasion.host), null);
  const said = { reason: endReason(reason), session: occasion.session, pid: around.pid };
  for (const { run, owner } of world.runs) {
    // The ledger first: the host gives this hook little time, and only this line spares the next session a question.
    if (owner === "ours" && run.trusted) release(around.fs, run, { ...said, ts: new Date().toISOString() });
  }
  endSession(around.fs, state, occasion.session);
  return nothing;
}

function onEdit(around: Surroundings, occasion: Occasion, event: Extract<HostEvent, { on: "edit" }>): Reply {
  const { fs } = around;
  let reason = editRefusal(fs, occasion.cwd, event.paths);
  if (reason === null && event.agent !== undefined) {
    const record = readSession(fs, stateFolder(around.env), occasion.session);
    const places = trustedPlaces(around, cwdOf(occasion, record), record);
    reason = strayReason(fs, places, event.agent, occasion.cwd, event.paths);
  }
  return reason === null ? nothing : { say: "deny", reason };
}

function onAgentStart(around: Surroundings, occasion: Occasion, line: LeaseLine | null): Reply {
  const home = line === null ? null : homeOf(around, occasion, line);
  if (home !== null && line !== null) {
    observe(around.fs, home, { type: "started", lease: line.lease }, by(occasion));
  }
  return nothing;
}

function onAgentStop(around: Surroundings, occasion: Occasion, role: string, text: string): Reply {
  // A host names no role for its own helper, the one that writes the summary of a compaction.
  const line = /^[A-Za-z0-9][A-Za-z0-9:_.-]{0,127}$/.test(role) ? leaseOfMessage(text) : null;
  const home = line === null ? null : homeOf(around, occasion, line);
  if (home !== null && line !== null) {
    writeResult(around.fs, home, line.lease, role, line.body);
    observe(around.fs, home, { type: "stopped", lease: line.lease, agent: role }, by(occasion));
  }
  return nothing;
}

function homeOf(around: Surroundings, occasion: Occasion, line: LeaseLine): string | null {
  const record = readSession(around.fs, stateFolder(around.env), occasion.session);
  return ownHome(around.fs, trustedPlaces(around, cwdOf(occasion, record), record), line.run);
}

function pointer(occasion: Occasion, world: World): Reply {
  const words = occasion.host.commandWords(occasion.pluginRoot, occasion.session);
  const text = pointerText(pointerParts(world, occasion.session), words, shortSha256);
  return text === null ? nothing : { say: "pointer", text };
}

/** The one living session of the host's process; null where there is none, or where nobody can tell which. */
function soleSession(around: Surroundings, { pid, start }: HostIdentity): SessionRecord | null {
  if (pid === null || start === null) return null;
  const [only, ...others] = sessionsOfProcess(around.fs, stateFolder(around.env), pid, start);
  return only === undefined || others.length > 0 ? null : only;
}

/** Set by a user whose host cannot bear output at a session's start. */
function isPointerAtPrompt(around: Surroundings): boolean {
  return around.env.ATLAS_POINTER === "prompt";
}

/** `<root>/.atlas/<id>` */
function rootOf(runFolder: string): string {
  return runFolder.replace(/[\\/]\.atlas[\\/][^\\/]*$/, "") || "/";
}
