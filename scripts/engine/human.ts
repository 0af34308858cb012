/**
 * How sure we are that a human said it. A host's hook that saw the prompt is proof for gates of our own runs; for a
 * ledger that may come from a stranger only a terminal counts, because what lies beside it could be forged with it.
 */
import { join } from "node:path";
import type { Grade, Head } from "../core/head.ts";
import { claimToken } from "../core/head.ts";
import { couldLive } from "../core/owner.ts";
import { type Refusal, type Result, refuse } from "../core/result.ts";
import { readBounded } from "../platform/files.ts";
import { sha256 } from "../platform/hash.ts";
import { livingStart } from "../platform/processes.ts";
import { readSession, type SessionRecord, stateFolder } from "../platform/sessions.ts";
import type { Engine } from "./context.ts";
import type { RunFolder } from "./ledger.ts";

const observedBytesMax = 1024 * 1024;

export type Observed =
  | { readonly type: "started"; readonly lease: string; readonly session: string | null }
  /** `agent`: the role as its host names it. */
  | { readonly type: "stopped"; readonly lease: string; readonly agent: string; readonly session: string | null }
  | { readonly type: "typed"; readonly nonce: string; readonly choice: string; readonly session: string | null };

/**
 * What hooks saw, whole lines only. Input, not truth: each is checked against the fold by whoever uses it. Agents'
 * starts and ends that a session of another living process saw are left out: they are not the work handed out here.
 */
export function readObserved(engine: Engine, folder: RunFolder): readonly Observed[] {
  const strangers = new Map<string, boolean>();
  const isStranger = (session: string | null): boolean => {
    if (session === null) return false;
    const known = strangers.get(session) ?? isElsewhere(engine, session);
    strangers.set(session, known);
    return known;
  };
  return readObservedLines(engine, folder).filter((seen) => seen.type === "typed" || !isStranger(seen.session));
}

/** As `readObserved`, whoever saw it: the same file gives the same answer everywhere. */
export function readObservedLines(engine: Pick<Engine, "fs">, folder: RunFolder): readonly Observed[] {
  const read = readBounded(engine.fs, join(folder.ledger, "observed.jsonl"), observedBytesMax);
  if (read.kind !== "file") return [];
  const seen: Observed[] = [];
  for (const line of read.bytes.toString("utf8").split("\n")) {
    if (!line.startsWith("{")) continue;
    try {
      const value = JSON.parse(line) as Record<string, unknown>;
      const { type, lease, nonce, choice, agent } = value;
      const session = typeof value.session === "string" ? value.session : null;
      if (type === "typed" && typeof nonce === "string" && typeof choice === "string") {
        seen.push({ type, nonce, choice, session });
      }
      if (typeof lease !== "string") continue;
      if (type === "started") seen.push({ type, lease, session });
      if (type === "stopped" && typeof agent === "string") seen.push({ type, lease, agent, session });
    } catch {
      // A torn observation says nothing.
    }
  }
  return seen;
}

/**
 * The grade of an answer somebody passes on: what a hook saw the human type or choose, a terminal's own word, or a relay.
 * `shown`: what a host shows that asks the open gate word for word; null where no gate is meant.
 */
export function gradeOfAnswer(
  engine: Engine,
  folder: RunFolder,
  nonce: string,
  choice: string,
  shown: string | null = null,
): Grade {
  if (shown !== null && wasChosen(engine, nonce, choice, shown)) return "host";
  const typed = readObserved(engine, folder).some(
    (seen) => seen.type === "typed" && seen.nonce === nonce && seen.choice === choice && isOurs(engine, seen.session),
  );
  if (typed || wasTyped(engine, nonce, choice) || isTerminal(engine)) return "typed";
  return choice === "" ? "none" : "relayed";
}

/**
 * The last choice the human made at this nonce, in a question of this session and process that showed exactly what was
 * printed. It stands in the session's own record only: what lies beside the run could be forged with it.
 */
function wasChosen(engine: Engine, nonce: string, choice: string, shown: string): boolean {
  const { session, pid, start } = engine.self;
  const last = recordOfSession(engine, session)?.chosen.findLast((answer) => answer.nonce === nonce);
  // A start nobody could tell is no proof of the same process.
  const isHere = last !== undefined && pid !== null && last.pid === pid && start !== "" && last.start === start;
  return isHere && last.choice === choice && last.asked === sha256(shown);
}

function recordOfSession(engine: Engine, session: string | null): SessionRecord | null {
  return session === null ? null : readSession(engine.fs, stateFolder(engine.environment), session);
}

/** What the asking session's own record says its human typed; no repository can write there. */
function wasTyped(engine: Engine, nonce: string, choice: string): boolean {
  const record = recordOfSession(engine, engine.self.session);
  return record?.typed.some((answer) => answer.nonce === nonce && answer.choice === choice) ?? false;
}

/** An agent may start a host of its own and have it "type": words of a session in another process are not the human's. */
function isOurs(engine: Engine, session: string | null): boolean {
  if (session === null || session === engine.self.session) return session !== null;
  const record = recordOfSession(engine, session);
  if (record === null || record.pid === null) return true;
  return record.pid === engine.self.pid && record.start === engine.self.start;
}

/** Of another process that lives. What a host saw before it died still tells of the agents that ran in it. */
function isElsewhere(engine: Engine, session: string): boolean {
  if (isOurs(engine, session)) return false;
  const record = recordOfSession(engine, session);
  return record !== null && couldLive(record, livingStart(engine.processes, record.pid));
}

/** 8 hex bound to the run and its claim: what the human types for `--take-over` and `--readopt`. */
export function wordNonce(head: Head, id: string, word: string): string {
  return sha256(`${word}:${id}:${claimToken(head)}`).slice(0, 8);
}

/** Refuses `gate.unattested` unless a human said the word for exactly this run and claim. */
export function requireWord(engine: Engine, folder: RunFolder, head: Head, word: string): Result<Grade, Refusal> {
  const nonce = wordNonce(head, folder.id, word);
  const grade = gradeOfAnswer(engine, folder, nonce, word);
  if (grade === "typed") return { ok: true, value: grade };
  return refuse(
    "gate.unattested",
    `--${word} needs the human's own word; the human types it into the prompt`,
    `atlas ${nonce} ${word}`,
  );
}

/**
 * `--trust` concerns a ledger from elsewhere: nothing that lies in it can vouch for it, so only the session's own
 * record and a terminal count.
 */
export function requireTrust(engine: Engine, atlas: string, id: string): Result<Grade, Refusal> {
  // Bound to the place: the same id in another repository is another ledger.
  const nonce = sha256(`trust:${atlas}:${id}:${engine.self.session}`).slice(0, 8);
  if (wasTyped(engine, nonce, "trust") || isTerminal(engine)) return { ok: true, value: "typed" };
  return refuse(
    "gate.unattested",
    "--trust needs the human's own word: this ledger came from elsewhere; the human types it into the prompt",
    `atlas ${nonce} trust`,
  );
}

const agentHosts = /^(claude|kimi|kimi-code|claude-code)(\.exe)?$/i;
const ancestorsMax = 64;

/** A terminal with no agent host among our ancestors. */
function isTerminal(engine: Engine): boolean {
  if (process.stdin.isTTY !== true || engine.environment.CLAUDECODE !== undefined) return false;
  let pid = process.ppid;
  for (let depth = 0; depth < ancestorsMax && pid > 1; depth += 1) {
    const facts = engine.processes.look(pid);
    if (facts === null) return true;
    // Who it is was not told: it may be a host.
    if (facts.start === "") return false;
    const names = [facts.name, ...facts.argv.slice(0, 2).map((word) => word.split(/[\\/]/).at(-1) ?? "")];
    if (names.some((name) => agentHosts.test(name))) return false;
    pid = facts.parent;
  }
  return true;
}
