/**
 * A run is born whole: its folder is built beside, synced, and renamed into place.
 *
 * What a failure leaves behind: a `.new-…` folder that nobody reads and `clean` removes, or the whole run.
 */
import { join } from "node:path";
import type { RunId } from "../core/ids.ts";
import type { EventBase } from "../core/kind.ts";
import { LINE_BYTES_MAX, LINE_VERSION, NO_SUM, sealLine } from "../core/line.ts";
import { type NonEmpty, ok, type Refusal, type Result, refuse } from "../core/result.ts";
import {
  entryKind,
  errno,
  failure,
  listFolder,
  makeFolder,
  removeFolder,
  replaceFile,
  syncFolder,
  writeNew,
} from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { sha256 } from "../platform/hash.ts";
import { patiently } from "../platform/patience.ts";
import { type ArtifactName, artifactPath } from "./artifacts.ts";
import type { Engine } from "./context.ts";
import { kindNamed, mustFit } from "./kinds.ts";
import type { RunFolder } from "./ledger.ts";
import { witnessBirth } from "./witness.ts";

export interface NewRun {
  readonly folder: RunFolder;
  readonly events: NonEmpty<EventBase>;
  readonly intent: string | null;
  /** `hash`: of the bytes, where it is known already. */
  readonly artifacts: readonly { readonly name: ArtifactName; readonly bytes: Uint8Array; readonly hash?: string }[];
}

/** `.atlas` in `root`, ignored by its own `.gitignore`. Durable before it returns. */
export function makePlace(fs: FileSystem, root: string): string {
  const atlas = join(root, ".atlas");
  // A link or a file in its place is a failure of makeFolder's: nothing is written through it.
  makeFolder(fs, atlas);
  // Also where it stands already: whoever made it may have been killed before this.
  syncFolder(fs, root);
  const ignore = join(atlas, ".gitignore");
  if (entryKind(fs, ignore) === "absent") replaceFile(fs, ignore, "*\n", true);
  return atlas;
}

/** Refuses `run.exists` when the id is taken, `ledger.line_too_long` when its events do not fit one line. */
export function bear(engine: Engine, run: NewRun): Result<RunFolder, Refusal> {
  const { fs } = engine;
  const { folder } = run;
  checkLegal(run.events);
  const { text: line, sum } = firstLine(engine, folder.id, run.events);
  const lineBytes = Buffer.byteLength(line);
  if (lineBytes > LINE_BYTES_MAX) {
    const reason = `the first line of run ${folder.id} has ${lineBytes} bytes; a line takes ${LINE_BYTES_MAX}`;
    return refuse("ledger.line_too_long", reason, "atlas doctor");
  }
  const building = join(folder.atlas, `.new-${engine.moment.fresh("birth")}${engine.moment.fresh("birth")}`);
  const built: RunFolder = { ...folder, ledger: building };
  try {
    makeFolder(fs, building);
    makeFolder(fs, join(building, "artifacts"));
    for (const { name, bytes, hash = sha256(bytes) } of run.artifacts)
      writeNew(fs, artifactPath(built, name, hash), bytes, true);
    if (run.intent !== null) writeNew(fs, join(building, "intent.txt"), run.intent, true);
    writeNew(fs, join(building, "log.jsonl"), `\n${line}\n`, true);
    syncFolder(fs, join(building, "artifacts"));
    syncFolder(fs, building);
    patiently(() => fs.renameSync(building, folder.ledger));
  } catch (error) {
    sweep(fs, building);
    const code = errno(error);
    if (code === "ENOTEMPTY" || code === "EEXIST" || code === "ENOTDIR" || code === "EISDIR") {
      return refuse("run.exists", `run ${folder.id} exists already`, `atlas resume --run ${folder.id}`);
    }
    throw failure(error, folder.ledger);
  }
  syncFolder(fs, join(folder.ledger, ".."));
  witnessBirth(engine, folder, sum);
  return ok(folder);
}

/** Of no consequence where it fails: nobody reads it, and `clean` tries again. */
function sweep(fs: FileSystem, building: string): void {
  try {
    if (entryKind(fs, building) === "folder") removeFolder(fs, building);
  } catch {
    // The failure that led here is the one to tell.
  }
}

/** The kind folds the line before it is written: a run that could not be read again is never born. */
function checkLegal(events: NonEmpty<EventBase>): void {
  const kind = kindNamed((events[0] as { kind?: string }).kind ?? "");
  if (kind === null) throw new Error("a run without a kind");
  mustFit(kind, events);
  events.reduce((state, event) => kind.apply(state, event, { sum: NO_SUM, ts: "" }), kind.initial());
}

function firstLine(
  engine: Engine,
  id: RunId,
  events: NonEmpty<EventBase>,
): { readonly text: string; readonly sum: string } {
  const stage = (events.find((event) => event.type === "stage") as { stage?: string } | undefined)?.stage;
  const body = {
    v: LINE_VERSION,
    seq: 1,
    prev: NO_SUM,
    ts: new Date(engine.moment.now).toISOString(),
    run_id: id,
    ...(stage === undefined ? {} : { stage }),
    by: { verb: engine.verb, pid: process.pid, session: engine.self.session, epoch: 1 },
    events,
  };
  return sealLine(body, sha256);
}

/** Folders of births that never came to be; for `clean`. */
export function stillborn(fs: FileSystem, atlas: string): readonly string[] {
  return listFolder(fs, atlas).filter((name) => name.startsWith(".new-"));
}
