/** Which runs are spoken of, and when: pure, the same for every host. */
import { liveness, type Owner, type Sighting } from "../core/owner.ts";
import type { PeekedRun } from "../platform/peek.ts";
import type { SeenRun, SessionRecord } from "../platform/sessions.ts";
import type { Host, HostEvent } from "./event.ts";
import type { OwnerWord, PointerParts, SpokenRun } from "./pointer.ts";

export interface World {
  /** Unfinished runs of trusted places, newest first. */
  readonly runs: readonly SpokenRun[];
  readonly vanished: readonly SeenRun[];
  readonly unopened: number;
}

/** Whose a run is, seen from `session` in the process of `sighting`. */
export function ownerWord(
  run: Pick<PeekedRun, "owner" | "released">,
  session: string,
  sightingOf: (owner: Owner) => Sighting,
): OwnerWord {
  if (run.owner === null) return "none";
  if (run.released) return "released";
  const seen = liveness(run.owner, sightingOf(run.owner));
  if (seen !== "ourselves") return seen;
  // Two sessions in one process without a release are two owners.
  return run.owner.session === session ? "ours" : "alive";
}

/** Sorts what is there by what can be said of it. A session's own run is the one it goes on with. */
export function pointerParts(world: World, session: string): PointerParts {
  const listed = world.runs.filter(({ run }) => run.trusted);
  // Never as one to go on with: its words are a stranger's until a human says otherwise.
  const tracked = listed.filter((spoken) => spoken.tracked);
  const trusted = listed.filter((spoken) => !spoken.tracked);
  const unreadable = trusted.filter(({ run }) => run.unreadable !== null);
  const readable = trusted.filter(({ run }) => run.unreadable === null);
  const foreign = readable.filter(({ owner }) => owner === "alive");
  const resumable = readable.filter(({ owner }) => owner !== "alive");
  const own = resumable.filter(({ run, owner }) => owner === "ours" || run.id === session);
  const others = { foreign, unreadable, tracked, vanished: world.vanished.map(({ id }) => id) };
  if (own.length === 1) return { ...others, foreign: [], resumable: own, unopened: 0 };
  return { ...others, resumable, unopened: world.unopened };
}

/** Whether the pointer goes out with this event at once, or is owed to the next prompt. */
export function pointerTurn(
  event: HostEvent,
  record: SessionRecord | null,
  host: Pick<Host, "heard" | "owesAfter">,
  atPrompt: boolean,
): "now" | "owed" | "never" {
  switch (event.on) {
    case "session-start":
    case "compacted":
      if (host.owesAfter.includes(event.on) || atPrompt) return "owed";
      return host.heard.includes(event.on) ? "now" : "never";
    case "prompt":
      // Without a record nobody remembers whether it was said: with the pointer at the prompt, say it.
      return record?.owed === true || (atPrompt && record === null) ? "now" : "never";
    default:
      return "never";
  }
}

const nonceAnswer = /(?:^|\s)atlas ([0-9a-f]{8}) ([a-z][a-z0-9:_-]{0,63})(?=\s|$)/g;
const answersMax = 4;

/** Gate answers a human typed: `atlas <nonce> <choice>`, at most a few of one prompt. */
export function typedAnswers(prompt: string): readonly { readonly nonce: string; readonly choice: string }[] {
  const answers: { nonce: string; choice: string }[] = [];
  for (const match of prompt.matchAll(nonceAnswer)) {
    answers.push({ nonce: match[1] as string, choice: match[2] as string });
    if (answers.length === answersMax) break;
  }
  return answers;
}
