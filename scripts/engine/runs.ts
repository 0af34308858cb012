/** Finding and describing runs: ours, adoptable and unreadable ones; nothing on disk is silently absent. */
import { join } from "node:path";
import { isMaskedId, isRunId, type RunId } from "../core/ids.ts";
import { LINE_BYTES_MAX } from "../core/line.ts";
import { compareRuns } from "../core/order.ts";
import { EnvironmentFailure, type RefusalCode } from "../core/result.ts";
import { isChangeStage } from "../core/stage-names.ts";
import { entryKind, readPrefix } from "../platform/files.ts";
import { LOOSE_MARKS_MAX, NO_MARKS, packMarks, readMarks, unmarked } from "../platform/finished.ts";
import { sha256 } from "../platform/hash.ts";
import { rememberListing } from "../platform/listing.ts";
import { firstObject, isSealed } from "../platform/peek-foreign.ts";
import { findPlaces, type Place, type Places } from "../platform/places.ts";
import { progressOf } from "../platform/spoken.ts";
import type { Engine } from "./context.ts";
import { type Loaded, loadRun, type RunFolder } from "./ledger.ts";
import { canList, listedPlace, memoryOf, oddPart } from "./listable.ts";
import { freeMegabytes } from "./memory.ts";
import { type ReadOriginal, readOriginal } from "./originals.ts";
import { graphView, ownView, progressOfGraph, type RunView } from "./run-view.ts";
import { isAnothers, isTracked, isTrusted } from "./trust.ts";
import { markFinished } from "./views.ts";

export interface FoundRun {
  readonly folder: RunFolder;
  readonly view: RunView;
  readonly loaded: Loaded | null;
  readonly original: ReadOriginal | null;
  /** Orders runs; decides nothing inside one. */
  readonly ts: string | null;
  readonly graph: boolean;
  readonly trusted: boolean;
  /** Why it cannot be folded; null where it can, or where it was never ours. */
  readonly unreadable: { readonly code: RefusalCode; readonly reason: string } | null;
}

export interface Found {
  readonly places: readonly Place[];
  readonly searched: readonly string[];
  readonly commonDir: string | null;
  readonly mainRoot: string | null;
  /** Newest first. */
  readonly runs: readonly FoundRun[];
  readonly finished: number;
}

export function placesOf(engine: Engine): Places {
  const home = engine.environment.HOME ?? engine.environment.USERPROFILE ?? null;
  return findPlaces(engine.fs, engine.cwd, { home, uid: process.getuid?.() ?? null });
}

/** `only`: one run by id (or its masked form), finished or not; no other folder is opened. */
export type Scope = "unfinished" | "all" | { readonly only: string };

/**
 * The runs of every place that are in scope; finished ones outside it are counted. `recalls`: what a look at a large
 * place found may be remembered for the next, for a verb that decides nothing.
 */
export function findRuns(engine: Engine, scope: Scope = "unfinished", recalls = false): Found {
  const all = scope !== "unfinished";
  const { places: present, searched, repository } = placesOf(engine);
  const listed = present.map((place) => listedPlace(engine, place, recalls && scope === "unfinished"));
  const places = listed.map(({ place }) => place);
  const runs: FoundRun[] = [];
  let finished = 0;
  for (const { place, names, recalled, before } of listed) {
    if (!place.trusted && place.why !== "another user's") continue;
    const marks = recalled === null ? readMarks(engine.fs, place.atlas) : NO_MARKS;
    if (marks.loose.size > LOOSE_MARKS_MAX && place.trusted) quietly(() => packMarks(engine.fs, place.atlas));
    const tracked = isTracked(engine, place, repository?.topLevel ?? null);
    const chosen = named(names, scope);
    const open = unmarked(marks, chosen);
    const isOpen = new Set(all ? open : []);
    const done = recalled?.finished ?? chosen.length - open.length;
    if (!all) finished += done;
    if (before !== null)
      rememberListing(engine.fs, memoryOf(engine, place), before, { open: open.filter(isRunId), finished: done });
    for (const id of all ? chosen : open) {
      if (!isRunId(id)) continue;
      const run = describe(engine, place, id, tracked);
      if (run === null) continue;
      if (run.view.terminal && (!all || isOpen.has(id)) && run.trusted) quietly(() => markFinished(engine, run.folder));
      if (run.view.terminal) finished += 1;
      if (!run.view.terminal || all) runs.push(run);
    }
  }
  runs.sort((a, b) => compareRuns({ ...a, id: a.view.id }, { ...b, id: b.view.id }));
  return {
    places,
    searched,
    commonDir: repository?.commonDir ?? null,
    mainRoot: repository?.mainRoot ?? null,
    runs,
    finished,
  };
}

function named(names: readonly string[], scope: Scope): readonly string[] {
  if (typeof scope === "string") return names;
  const { only } = scope;
  return names.filter(isMaskedId(only) ? (id) => isRunId(id) && maskedId(id) === only : (id) => id === only);
}

/** One run by id, finished or not; null when no place holds it. */
export function findRun(engine: Engine, id: string): FoundRun | null {
  return findRuns(engine, { only: id }).runs[0] ?? null;
}

/** The form an id takes in text a model reads when it is none of ours: `#<8 hex>`, which `--run` takes too. */
export function maskedId(id: string): string {
  return `#${sha256(id).slice(0, 8)}`;
}

/** Whatever lies there: one run that cannot be described must not hide the others. */
function describe(engine: Engine, place: Place, id: RunId, tracked: boolean): FoundRun | null {
  try {
    return describeFolder(engine, place, id, tracked);
  } catch (error) {
    if (error instanceof EnvironmentFailure) throw error;
    return broken(place, id, "ledger.malformed", "its ledger holds something of an unknown shape");
  }
}

function describeFolder(engine: Engine, place: Place, id: RunId, tracked: boolean): FoundRun | null {
  const folder = join(place.atlas, id);
  const kind = entryKind(engine.fs, folder);
  if (kind === "link") return { ...broken(place, id, "ledger.linked", "its folder is a link"), trusted: false };
  if (kind !== "folder") return null;
  if (!canList(engine, folder)) return broken(place, id, "ledger.unreadable", "its folder may not be read");
  const adopted = join(folder, "adopted");
  const isAdopted = entryKind(engine.fs, join(adopted, "log.jsonl")) !== "absent";
  const at: RunFolder = {
    id,
    root: place.root,
    atlas: place.atlas,
    ledger: isAdopted ? adopted : folder,
    adopted: isAdopted,
  };
  const anothers = !place.trusted || isAnothers(engine, folder);
  const stranger = anothers ? "untrusted.owner" : tracked ? "untrusted.tracked" : null;
  const untrusted = stranger !== null && isTrusted(engine, place.atlas, id) ? null : stranger;
  if (isAdopted && entryKind(engine.fs, adopted) !== "folder")
    return { ...broken(place, id, "ledger.linked", "adopted/ is a link"), trusted: false };
  if (isAdopted || isOwn(engine, folder)) {
    const odd = oddPart(engine, at);
    const own =
      odd === null ? describeOwn(engine, at, untrusted) : { ...broken(place, id, odd.code, odd.reason), folder: at };
    // Also of one that cannot be read: a fork of its good part would be a run of ours.
    return { ...own, trusted: own.trusted && untrusted === null };
  }
  const isRun = ["log.jsonl", "state.json"].some((name) => entryKind(engine.fs, join(folder, name)) !== "absent");
  if (!isRun) return null;
  const original = readOriginal(engine.fs, folder, id, freeMegabytes(engine.environment));
  return describeOriginal(at, original, untrusted);
}

/** Our log, or what is left beside a damaged one: the original writes no snapshot and no `kind` into its state. */
function isOwn(engine: Engine, folder: string): boolean {
  const log = readPrefix(engine.fs, join(folder, "log.jsonl"), LINE_BYTES_MAX + 1);
  if (log !== null && isSealed(firstObject(log.toString("utf8")))) return true;
  if (entryKind(engine.fs, join(folder, "snapshot.json")) !== "absent") return true;
  const state = readPrefix(engine.fs, join(folder, "state.json"), 200);
  return state !== null && /^\{\s*"run_id": "[^"]*",\s*"kind": /.test(state.toString("utf8"));
}

/** What the original of an adopted run has written; null where there is none. */
export function originalOf(engine: Engine, { folder, headline }: Loaded): ReadOriginal | null {
  if (headline.head.origin !== "kimi-atlas") return null;
  return readOriginal(engine.fs, join(folder.atlas, folder.id), folder.id, freeMegabytes(engine.environment));
}

function describeOwn(engine: Engine, folder: RunFolder, untrusted: RefusalCode | null): FoundRun {
  const load = loadRun(engine.fs, folder);
  if (!load.ok) {
    const run = broken(
      { root: folder.root, atlas: folder.atlas },
      folder.id,
      load.unreadable.code,
      load.unreadable.reason,
    );
    return { ...run, folder };
  }
  const { loaded } = load;
  const original = originalOf(engine, loaded);
  return {
    folder,
    loaded,
    original,
    ts: loaded.headline.lastTs,
    graph: loaded.kind.name === "weave",
    trusted: untrusted === null,
    unreadable: null,
    view: ownView(engine, loaded, original, untrusted),
  };
}

function describeOriginal(folder: RunFolder, original: ReadOriginal, untrusted: RefusalCode | null): FoundRun {
  const { run } = original;
  const base = {
    folder,
    loaded: null,
    original,
    ts: run.updatedTs,
    graph: run.graph,
    trusted: untrusted === null,
    unreadable: null,
  };
  const kind = run.graph ? "weave" : "change";
  const common = { id: folder.id, kind, origin: "kimi-atlas" as const, owner: null, root: folder.root };
  const unadoptable = (code: RefusalCode, reason: string): FoundRun => ({
    ...base,
    unreadable: { code, reason },
    view: {
      ...common,
      stage: run.stage,
      terminal: false,
      resumable: false,
      why: `unreadable: ${code}: ${reason}`,
      progress: { done: 0, total: null },
      refine_passes: 0,
      losses: [code],
    },
  });
  if (!run.readable) return unadoptable(run.why.code, run.why.sentence);
  // Nobody can tell what such a run would do next, so it is no choice; the same is said by adopting it.
  if (!run.graph && !run.terminal && !isChangeStage(run.stage)) {
    return unadoptable("adopt.unknown_stage", "it stands at a stage this atlas does not know");
  }
  const progress = progressOfGraph(original) ?? progressOf(kind, run.stages);
  return {
    ...base,
    view: {
      ...common,
      stage: run.stage,
      terminal: run.terminal,
      resumable: !run.terminal && untrusted === null,
      why: run.terminal ? "finished" : (untrusted ?? "adoptable"),
      progress,
      refine_passes: run.refinePasses,
      losses: run.losses.map((loss) => loss.code),
      ...graphView(run.terminal ? null : original),
    },
  };
}

function broken(place: Pick<Place, "root" | "atlas">, id: RunId, code: RefusalCode, reason: string): FoundRun {
  return {
    folder: { id, root: place.root, atlas: place.atlas, ledger: join(place.atlas, id), adopted: false },
    loaded: null,
    original: null,
    ts: null,
    graph: false,
    trusted: true,
    unreadable: { code, reason },
    view: {
      id,
      kind: "unknown",
      origin: "atlas",
      stage: "unknown",
      terminal: false,
      resumable: false,
      why: code === "ledger.newer" ? `newer: ${reason}` : `unreadable: ${code}: ${reason}`,
      owner: null,
      progress: { done: 0, total: null },
      refine_passes: 0,
      losses: [code],
      root: place.root,
    },
  };
}

/** A lost mark costs time only; a place that cannot be written is no reason to fail a reading. */
function quietly(write: () => void): void {
  try {
    write();
  } catch {
    // Read-only: the next writer marks it.
  }
}
