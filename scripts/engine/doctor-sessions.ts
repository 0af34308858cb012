/** What hooks have reported in this session, over which way the pointer came through, and runs that are gone. Reads only. */
import { join } from "node:path";
import { lostRuns } from "../platform/known-runs.ts";
import { readSession, type SessionRecord, stateFolder } from "../platform/sessions.ts";
import type { Engine } from "./context.ts";
import { bad, type Check, fine, shellQuoted } from "./doctor-check.ts";

/** A host whose hooks never start looks like one without unfinished runs; here the two are told apart. */
export function checkHooks(engine: Engine): Check {
  const { self, environment } = engine;
  const record = self.session === null ? null : readSession(engine.fs, stateFolder(environment), self.session);
  if (record !== null) return fine("hooks", `session start was reported by ${record.host}; ${pointerWay(record)}`);
  const none = "no hook of this session has reported";
  if (environment.CLAUDECODE === undefined && environment.CLAUDE_PID === undefined) {
    return fine("hooks", `${none}; outside a host there are none, and the resume skill works without`);
  }
  const why = "the host did not load the plugin, or did not tell its hooks where it lies (CLAUDE_PLUGIN_ROOT)";
  return bad("hooks", `${none}: ${why}; until then type atlas resume`, "claude plugin list");
}

function pointerWay({ told, heard, owed }: SessionRecord): string {
  if (told === undefined) return "there was nothing to point at yet";
  const way = told === "start" ? "at the session's start" : "with a prompt";
  if (heard === told) return `the pointer came ${way} and was followed`;
  return `the pointer was said ${way} and not followed yet${owed ? "; the next prompt says it again" : ""}`;
}

/** Runs the user's own state folder knows of and no folder holds any more. */
export function checkLost(engine: Engine, roots: readonly string[]): readonly Check[] {
  const state = stateFolder(engine.environment);
  return lostRuns(engine.fs, state, roots).map(({ root, id, mark }) =>
    bad(
      `lost run ${id}`,
      `it lost its ledger at ${join(root, ".atlas", id)}: bring the folder back, or forget the run`,
      `rm ${shellQuoted(mark)}`,
    ),
  );
}
