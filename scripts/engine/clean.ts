/**
 * Cleaning: what finished runs left that nobody can need. Never a ledger, never anything dirty or unreferenced, and
 * nothing this run did not record.
 *
 * What a failure leaves behind: some things removed, each as its own file says; the next call does the rest. The
 * order is refs, trees, branches: each sees what the ones before it took away, so no commit loses its last ref.
 */
import { join } from "node:path";
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import type { BegunEffect } from "../parts/effect.ts";
import type { Tree, Trees } from "../parts/tree.ts";
import { entryKind, errno, listFolder } from "../platform/files.ts";
import { FINISHED } from "../platform/finished.ts";
import { isPerformerAlive } from "../platform/performer-client.ts";
import { type Others, sweepBirths, sweepLookingPlaces, sweepTemporary, temporaryFoldersOf } from "./clean-leftovers.ts";
import { branchesOfRun, isKept, isReachedByOthers, listRefs, type Refs, refsOfRun, sweepRef } from "./clean-refs.ts";
import { sweepSessions } from "./clean-sessions.ts";
import { sweepStore } from "./clean-store.ts";
import { type Left, newSweep, type Sweep, whyFailed } from "./clean-sweep.ts";
import { sweepTree, treePathsOf } from "./clean-trees.ts";
import type { Engine } from "./context.ts";
import { requireWord } from "./human.ts";
import { type Loaded, loadRun } from "./ledger.ts";
import { type LookingPlace, openLooking, readOnly } from "./look-only.ts";
import { othersLive } from "./other-processes.ts";
import { type Found, type FoundRun, findRuns } from "./runs.ts";
import { selectRun } from "./select.ts";
import { STARTS } from "./start-id.ts";
import { TURNS } from "./tree-turn.ts";

export interface CleanWish {
  /** Changes nothing, and answers what a cleaning would. */
  readonly dryRun: boolean;
  /** The run whose kept refs go, by the human's word. */
  readonly dropKept: string | null;
}

export interface Cleaned {
  /** Absolute paths and refs. */
  readonly removed: readonly string[];
  readonly kept: readonly Left[];
  /** Kept refs that were dropped by the human's word. */
  readonly dropped: readonly string[];
}

/** A run whose own trees and refs may be looked at. */
interface Candidate {
  readonly loaded: Loaded;
  readonly trees: readonly Tree[];
  readonly finished: boolean;
}

/** Refuses `run.unknown`, `run.untrusted`, `clean.unfinished`, `gate.unattested`, all of them for `dropKept` alone. */
export function clean(
  engine: Engine,
  wish: CleanWish,
  others: Others = () => othersLive(engine.processes, process.pid),
): Result<Cleaned, Refusal> {
  const found = findRuns(wish.dryRun ? { ...engine, fs: readOnly(engine.fs) } : engine, "all");
  const sweep = newSweep(wish.dryRun);
  const candidates = candidatesOf(engine, found, sweep);
  const refs = refsByRepository(engine, candidates, sweep);
  let dropped: readonly string[] = [];
  if (wish.dropKept !== null) {
    const done = dropKept(engine, found, wish.dropKept, wish.dryRun);
    if (!done.ok) return done;
    for (const ref of done.value.removed) sweep.gone.add(ref);
    sweep.kept.push(...done.value.kept);
    dropped = done.value.removed;
  }
  const looking = openLooking(engine.git, engine.fs);
  try {
    const finished = candidates.filter((one) => one.finished);
    for (const one of finished) sweepOwnRefs(engine, one, refs, sweep);
    for (const one of candidates) sweepTrees(engine, one, refs, sweep, looking);
    for (const one of finished) sweepBranches(engine, one, refs, sweep);
    for (const one of finished) sweepStore(engine, one.loaded, sweep);
  } finally {
    looking.close();
  }
  for (const place of found.places.filter((one) => one.trusted)) {
    sweepBirths(engine, place.atlas, others, sweep);
    const ledgers = found.runs.filter((run) => run.trusted && run.loaded !== null && run.folder.atlas === place.atlas);
    const folders = [place.atlas, join(place.atlas, FINISHED), join(place.atlas, STARTS), join(place.atlas, TURNS)];
    folders.push(...ledgers.flatMap((run) => temporaryFoldersOf(engine.fs, run.folder.ledger)));
    sweepTemporary(engine, folders, others, sweep);
  }
  sweepSessions(engine, others, sweep);
  sweepLookingPlaces(engine, others, sweep);
  return ok({ removed: sweep.removed, kept: sweep.kept, dropped });
}

/** Folded from the first line: what is deleted rests on the ledger itself, never on a snapshot of it. */
function candidatesOf(engine: Engine, found: Found, sweep: Sweep): readonly Candidate[] {
  const candidates: Candidate[] = [];
  for (const run of found.runs) {
    const hasTrees = entryKind(engine.fs, join(run.folder.ledger, "worktree")) !== "absent";
    if (run.loaded === null || !run.trusted) {
      // An original's own run is not ours to judge; a ledger of ours that cannot be believed names no tree.
      if (run.original === null && hasTrees) sweep.kept.push({ path: run.folder.ledger, why: wordOf(run) });
      continue;
    }
    const read = loadRun(engine.fs, run.folder, false);
    if (!read.ok) {
      sweep.kept.push({ path: run.folder.ledger, why: read.unreadable.code });
      continue;
    }
    const { loaded } = read;
    const { trees, effect } = loaded.state as { readonly trees?: Trees; readonly effect?: BegunEffect | null };
    const finished = loaded.headline.terminal;
    const wanted = (trees?.all ?? []).filter(({ status }) => finished || status === "kept" || status === "removed");
    if (!finished && wanted.length === 0) continue;
    if (effect != null && isPerformerAlive(engine.processes, effect.performer, engine.exclusive)) {
      sweep.kept.push({ path: run.folder.ledger, why: "effect.running" });
      continue;
    }
    candidates.push({ loaded, trees: wanted, finished });
  }
  return candidates;
}

function wordOf(run: FoundRun): string {
  return /^(?:unreadable: )?([a-z_]+\.[a-z_]+)/.exec(run.view.why)?.[1] ?? "ledger.unreadable";
}

type RefsOf = ReadonlyMap<string, Refs>;

function refsByRepository(engine: Engine, candidates: readonly Candidate[], sweep: Sweep): RefsOf {
  const refs = new Map<string, Refs>();
  const unread = new Set<string>();
  for (const { loaded } of candidates) {
    const { commonDir } = loaded.state.head;
    if (commonDir === null || refs.has(commonDir) || unread.has(commonDir)) continue;
    try {
      refs.set(commonDir, listRefs(engine.git, commonDir));
    } catch (error) {
      unread.add(commonDir);
      sweep.kept.push({ path: commonDir, why: whyFailed(error) });
    }
  }
  return refs;
}

function sweepOwnRefs(engine: Engine, { loaded }: Candidate, all: RefsOf, sweep: Sweep): void {
  const refs = all.get(loaded.state.head.commonDir ?? "");
  if (refs === undefined) return;
  for (const ref of refsOfRun(engine.git, refs, loaded.folder.id)) {
    if (isKept(ref)) continue;
    if (ref.tree === "") sweepRef(engine.git, refs.commonDir, ref, sweep);
    else sweep.kept.push({ path: ref.name, why: "checked out" });
  }
}

function sweepTrees(engine: Engine, one: Candidate, all: RefsOf, sweep: Sweep, looking: LookingPlace): void {
  const { loaded, trees, finished } = one;
  const { commonDir } = loaded.state.head;
  const refs = all.get(commonDir ?? "");
  const home = join(loaded.folder.ledger, "worktree");
  if (commonDir !== null && refs !== undefined) {
    const keptRefs = refsOfRun(engine.git, refs, loaded.folder.id)
      .filter((ref) => isKept(ref) && !sweep.gone.has(ref.name))
      .map((ref) => ref.name);
    for (const tree of trees) sweepTree({ engine, sweep, looking, loaded, commonDir, keptRefs }, tree);
  }
  if (!finished || entryKind(engine.fs, home) !== "folder") return;
  const recorded = new Set(trees.flatMap((tree) => treePathsOf(engine, loaded, tree)));
  for (const name of listFolder(engine.fs, home)) {
    if (name === ".making" || recorded.has(join(home, name)) || entryKind(engine.fs, join(home, name)) === "absent")
      continue;
    sweep.kept.push({ path: join(home, name), why: "tree.unrecorded" });
  }
  if (!sweep.dryRun) for (const folder of [join(home, ".making"), home]) removeEmpty(engine, folder);
}

function removeEmpty(engine: Engine, folder: string): void {
  try {
    if (entryKind(engine.fs, folder) === "folder") engine.fs.rmdirSync(folder);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOENT", "EACCES", "EPERM", "EROFS"].includes(errno(error))) throw error;
  }
}

/** Branches the original made for a run that we adopted and that is finished. */
function sweepBranches(engine: Engine, { loaded, trees }: Candidate, all: RefsOf, sweep: Sweep): void {
  const refs = all.get(loaded.state.head.commonDir ?? "");
  if (refs === undefined || loaded.state.head.origin !== "kimi-atlas") return;
  const paths = new Set(trees.filter((tree) => tree.foreign).flatMap((tree) => treePathsOf(engine, loaded, tree)));
  for (const ref of branchesOfRun(refs, loaded.folder.id, paths)) {
    const stands = ref.tree !== "" && !sweep.removed.includes(ref.tree);
    if (stands) sweep.kept.push({ path: ref.name, why: "checked out" });
    else if (!isReachedByOthers(engine.git, refs.commonDir, ref, sweep)) {
      sweep.kept.push({ path: ref.name, why: "its commits are not reachable from another ref" });
    } else sweepRef(engine.git, refs.commonDir, ref, sweep);
  }
}

/** Kept refs of a finished run; whoever asks must be a human, because this is the one deletion of kept work. */
function dropKept(engine: Engine, found: Found, id: string, dryRun: boolean): Result<Sweep, Refusal> {
  const chosen = selectRun(engine, found, { run: id, newest: false });
  if (!chosen.ok) return chosen;
  const run = chosen.value;
  if (run === null) return refuse("run.unknown", "there is no such run here", "atlas status --all");
  if (run.loaded === null) {
    const code = wordOf(run) as `${string}.${string}`;
    return refuse(code, `run ${run.view.id} cannot be read, so what it kept is not known`, "atlas doctor");
  }
  if (!run.trusted) {
    const fix = `atlas resume --run ${run.view.id} --trust`;
    return refuse("run.untrusted", `run ${run.view.id} was not written by this user's runs`, fix);
  }
  if (!run.view.terminal) {
    const fix = `atlas abandon --run ${run.view.id}`;
    return refuse("clean.unfinished", `run ${run.view.id} is not finished: it may still need what it kept`, fix);
  }
  const sweep = newSweep(dryRun);
  const { head } = run.loaded.state;
  if (head.commonDir === null) return ok(sweep);
  if (!dryRun) {
    const word = requireWord(engine, run.folder, head, "drop-kept");
    if (!word.ok) return word;
  }
  const refs = listRefs(engine.git, head.commonDir);
  for (const ref of refsOfRun(engine.git, refs, run.folder.id)) {
    if (isKept(ref)) sweepRef(engine.git, refs.commonDir, ref, sweep);
  }
  return ok(sweep);
}
