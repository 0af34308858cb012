/** One event of one session, and what is known of the session without a record. */
import type { SessionRecord } from "../platform/sessions.ts";
import type { Host, HostEvent, Reply } from "./event.ts";

/** One event of one session; `pluginRoot` is the folder above `dist/`. */
export interface Occasion {
  readonly host: Host;
  readonly session: string;
  /** As the payload names it. */
  readonly cwd: string;
  readonly event: HostEvent;
  readonly pluginRoot: string;
}

export const nothing: Reply = { say: "nothing" };

/** Where the session works: not every host's payload says it. */
export function cwdOf(occasion: Occasion, record: SessionRecord | null): string {
  return occasion.host.trustsCwd ? occasion.cwd : (record?.cwd ?? occasion.cwd);
}

export function blankRecord(occasion: Occasion): SessionRecord {
  return {
    host: occasion.host.name,
    session: occasion.session,
    pid: null,
    start: null,
    cwd: occasion.cwd,
    places: [],
    runs: [],
    compactions: 0,
    owed: false,
    typed: [],
    chosen: [],
    nudged: null,
    ended: false,
  };
}

/** By whom it was seen. */
export function by(occasion: Occasion): { readonly host: string; readonly session: string } {
  return { host: occasion.host.name, session: occasion.session };
}
