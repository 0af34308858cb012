/** Gathers what a hook looks at: places, unfinished runs, who we are. Reads only. */
import { dirname, join } from "node:path";
import type { RunId } from "../core/ids.ts";
import { compareRuns } from "../core/order.ts";
import type { ProcessIdentity } from "../core/owner.ts";
import { entryKind } from "../platform/files.ts";
import { isMarked } from "../platform/finished.ts";
import type { FileSystem } from "../platform/fs.ts";
import { surelyTracks } from "../platform/git-index.ts";
import { type LostRun, lostRuns } from "../platform/known-runs.ts";
import { HOOK_LOG_BYTES_MAX, HOOK_RUNS_MAX, type PeekedRun, peekRun, peekUnfinished } from "../platform/peek.ts";
import { findPlaces, type Place, placesAt } from "../platform/places.ts";
import { hostProcess, livingStart, type Processes } from "../platform/processes.ts";
import { type SeenRun, type SessionRecord, stateFolder } from "../platform/sessions.ts";
import { trustMark } from "../platform/trust-mark.ts";
import type { Host } from "./event.ts";
import { ownerWord, type World } from "./policy.ts";

/** An index of some fifty thousand files; a longer one would cost a session's start more than the word is worth. */
const indexBytesMax = 8 * 1024 * 1024;

export interface Surroundings {
  readonly fs: FileSystem;
  readonly processes: Processes;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Our own process. */
  readonly pid: number;
}

export interface HostIdentity {
  readonly pid: number | null;
  readonly start: string | null;
}

/** The host's own process, as the processes tell. */
export function hostIdentity(around: Surroundings, host: Host): HostIdentity {
  const claimed = host.pidVariable === null ? undefined : around.env[host.pidVariable];
  const facts = hostProcess(around.processes, around.pid, claimed);
  return { pid: facts?.pid ?? null, start: facts?.start ?? null };
}

/** Trusted places seen from `cwd` and from the session's record, each once. */
export function trustedPlaces(around: Surroundings, cwd: string, record: SessionRecord | null): readonly Place[] {
  const uid = process.getuid?.() ?? null;
  const home = around.env.HOME ?? around.env.USERPROFILE ?? null;
  const near = findPlaces(around.fs, cwd, { home, uid }).places;
  const roots = [...near.map((place) => place.root), ...(record?.places ?? [])];
  return placesAt(around.fs, roots, uid).filter((place) => place.trusted);
}

/** Unfinished runs that were known where one looks from `cwd`, and whose folder is gone. */
export function lostAround(around: Surroundings, cwd: string, record: SessionRecord | null): readonly LostRun[] {
  const state = stateFolder(around.env);
  // The search is only worth its cost where anything is known at all.
  if (state === null || entryKind(around.fs, join(state, "runs")) !== "folder") return [];
  const home = around.env.HOME ?? around.env.USERPROFILE ?? null;
  const { searched } = findPlaces(around.fs, cwd, { home, uid: process.getuid?.() ?? null });
  return lostRuns(around.fs, state, [...new Set([...searched, ...(record?.places ?? [])])]);
}

/** The unfinished runs of `places`, with whose they are. */
export function lookAround(
  around: Surroundings,
  places: readonly Place[],
  session: string,
  host: HostIdentity,
  record: SessionRecord | null,
): World {
  const uid = process.getuid?.() ?? null;
  const runs: PeekedRun[] = [];
  let unopened = 0;
  for (const place of places) {
    const found = peekUnfinished(
      around.fs,
      place.atlas,
      uid,
      HOOK_RUNS_MAX - runs.length,
      HOOK_LOG_BYTES_MAX,
      stateFolder(around.env),
    );
    runs.push(...found.runs);
    unopened += found.unopened;
  }
  const strangers = trackedRuns(around, places, runs);
  const spoken = runs.sort(compareRuns).map((run) => ({
    run,
    tracked: strangers.has(run.folder),
    owner: ownerWord(run, session, (owner) => ({
      here: here(around, host),
      startOfPid: livingStart(around.processes, owner.pid),
      exclusive: around.env.ATLAS_EXCLUSIVE === "1",
    })),
  }));
  return { runs: spoken, vanished: vanishedRuns(around.fs, record), unopened };
}

/** Folders of runs that came with a repository and that no human trusted. The index is read where there are runs only. */
function trackedRuns(around: Surroundings, places: readonly Place[], runs: readonly PeekedRun[]): ReadonlySet<string> {
  const state = stateFolder(around.env);
  const found = new Set<string>();
  for (const { root, atlas } of places) {
    const here = runs.filter((run) => dirname(run.folder) === atlas);
    if (here.length === 0 || !surelyTracks(around.fs, root, ".atlas", indexBytesMax)) continue;
    for (const { folder, id } of here) {
      const mark = trustMark(state, atlas, id);
      if (mark === null || entryKind(around.fs, mark) !== "file") found.add(folder);
    }
  }
  return found;
}

/** One named run in these places, if it is unfinished and ours to write beside. */
export function ownHome(fs: FileSystem, places: readonly Place[], id: RunId): string | null {
  const uid = process.getuid?.() ?? null;
  for (const { atlas } of places) {
    if (isMarked(fs, atlas, id)) continue;
    const run = peekRun(fs, atlas, id, uid);
    if (run?.home && run.trusted && !run.terminal) return run.home;
  }
  return null;
}

export function here(around: Surroundings, host: HostIdentity): ProcessIdentity {
  return { ...around.processes.place, pid: host.pid, start: host.start };
}

function vanishedRuns(fs: FileSystem, record: SessionRecord | null): readonly SeenRun[] {
  return (record?.runs ?? []).filter(({ root, id }) => entryKind(fs, join(root, ".atlas", id)) === "absent");
}
