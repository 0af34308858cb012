/**
 * Views for people and for the seed's readers, and the mark of a finished run. Replaced atomically, never synced:
 * losing one loses nothing, and nothing of ours ever reads one back as truth.
 */
import { join } from "node:path";
import { EnvironmentFailure } from "../core/result.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { readBounded, replaceView } from "../platform/files.ts";
import { mark } from "../platform/finished.ts";
import { forgetRun } from "../platform/known-runs.ts";
import { stateFolder } from "../platform/sessions.ts";
import type { Engine } from "./context.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { readPacket } from "./packets.ts";

/** What cannot be written is left out: the line is durable, and the command that recorded it must be told so. */
export function writeViews(engine: Engine, loaded: Loaded): void {
  const { headline, folder } = loaded;
  tolerating(() => {
    if (loaded.kind.name !== "change") return;
    const view = changeView(engine, loaded as Loaded<ChangeState>);
    replaceView(engine.fs, join(folder.ledger, "state.json"), `${JSON.stringify(view, null, 2)}\n`);
  });
  tolerating(() => {
    if (headline.terminal) markFinished(engine, folder);
  });
}

function tolerating(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof EnvironmentFailure)) throw error;
  }
}

/**
 * A start-up opens only the runs that have no mark. The mark comes last: whoever finds a finished run without one does
 * both again, and behind a mark nobody would look for what the user's state folder still knows.
 */
export function markFinished(engine: Engine, folder: RunFolder): void {
  forgetRun(engine.fs, stateFolder(engine.environment), folder.root, folder.id);
  mark(engine.fs, folder.atlas, folder.id);
}

/** The seed's fields, so that anyone who knows it finds them. */
function changeView(engine: Engine, loaded: Loaded<ChangeState>): Record<string, unknown> {
  const { state, folder, headline } = loaded;
  const packet = readPacket(engine, loaded);
  const intent = readBounded(engine.fs, join(folder.ledger, "intent.txt"), 64 * 1024);
  return {
    run_id: folder.id,
    kind: "change",
    current_state: state.stage ?? "INIT",
    intent: packet?.intent ?? (intent.kind === "file" ? intent.bytes.toString("utf8") : ""),
    success_criteria: packet?.success_criteria ?? [],
    stages: Object.fromEntries(state.stages.map((stage) => [stage, { status: "done" }])),
    refine_passes: state.refinePasses,
    draft_ref: "",
    verify_cmd: packet?.verify_cmd ?? "",
    scope_paths: packet?.scope_paths ?? [],
    baseline_sha: state.baseline ?? "",
    created_ts: headline.head.claimedAt,
    updated_ts: headline.lastTs,
  };
}
