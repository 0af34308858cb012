/**
 * The human's word at the end made true in the user's own tree: `apply` writes the result, `discard` takes it back.
 *
 * Nothing is written unless every path holds what the run knows: bytes of the base or of the result. Paths are written
 * one after the other; a kill in between leaves some of each, which is still only what the run knows, so the next
 * command of the run goes on. Nothing is committed, staged or merged.
 */
import { dirname, join } from "node:path";
import { EnvironmentFailure, ok, type Refusal, type Result, refuse } from "../core/result.ts";
import type { EffectOutcome } from "../kinds/change/decide.ts";
import type { ChangeState, DeliveryChoice } from "../kinds/change/state.ts";
import { type Change, changesBetween } from "../platform/changes.ts";
import { entryKind, listFolder } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { isNameable } from "../platform/git-paths.ts";
import { removePaths, writePaths } from "../platform/write-paths.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf, userTree } from "./effects.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { resultTrees } from "./result-trees.ts";

const shownMax = 5;

/** Paths in which a tree differs from what lies there now, and how. */
type Off = ReadonlyMap<string, Change["status"]>;

interface Plan {
  /** Paths that hold neither what was before nor what the run made. */
  readonly diverged: readonly string[];
  readonly write: readonly string[];
  readonly remove: readonly string[];
  /** The tree the written paths come from. */
  readonly from: string;
}

/** Refuses `apply.nothing | apply.diverged`, before anything is recorded. `discard` leaves what diverged and says so. */
export function checkDelivery(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  choice: DeliveryChoice,
): Result<null, Refusal> {
  if (choice === "discard") return ok(null);
  const plan = planOf(engine, loaded, choice);
  if (plan === null) {
    return refuse(
      "apply.nothing",
      "the run made no result that could be applied",
      `atlas report --run ${loaded.folder.id}`,
    );
  }
  return plan.diverged.length === 0 ? ok(null) : diverged(loaded.folder, plan.diverged);
}

/** Performs what is owed. Throws `apply.diverged` where somebody changed a path since the human chose. */
export function deliver(engine: Engine, loaded: Loaded<ChangeState>, choice: DeliveryChoice): EffectOutcome {
  const plan = planOf(engine, loaded, choice);
  if (plan === null) return { of: "deliver", written: 0, left: 0 };
  if (choice === "apply" && plan.diverged.length > 0) {
    const refusal = diverged(loaded.folder, plan.diverged).error;
    throw new EnvironmentFailure(refusal.code, refusal.reason, refusal.fix);
  }
  const root = userTree(loaded);
  // A file may take the place of a folder that goes, or a folder that of a file.
  removePaths(engine.fs, root, plan.remove);
  writePaths(engine.fs, snapshotsOf(engine, loaded), plan.from, root, plan.write);
  return { of: "deliver", written: plan.write.length + plan.remove.length, left: plan.diverged.length };
}

function planOf(engine: Engine, loaded: Loaded<ChangeState>, choice: DeliveryChoice): Plan | null {
  const { isolated } = loaded.state;
  const trees = resultTrees(engine, loaded);
  if (trees === null) return null;
  // What an isolated run made lies in a tree of its own: there is nothing of it to take back.
  if (choice === "discard" && isolated) return null;
  const snapshots = snapshotsOf(engine, loaded);
  const root = userTree(loaded);
  const now = snapshots.take(root).tree;
  const { base, coded, built } = trees;
  const changed = changesBetween(snapshots, base, coded);
  const offNow = (tree: string): Off =>
    new Map(changesBetween(snapshots, tree, now).map(({ path, status }) => [path, status]));
  const [offBase, offCoded, offBuilt] = [offNow(base), offNow(coded), offNow(built)];
  const isResult = (path: string) => !offCoded.has(path) || !offBuilt.has(path);
  const [gone, target] = choice === "apply" ? (["D", offCoded] as const) : (["A", offBase] as const);
  const removed = new Set(changed.filter(({ status }) => status === gone).map(({ path }) => path));
  const isSeenNow = ({ path, status }: Change) => (offBase.has(path) ? offBase.get(path) !== "D" : status !== "A");
  const isBlocked = (change: Change) =>
    change.status === gone
      ? isSeenNow(change) && !isNameable(change.path)
      : !isSeenNow(change) && isInTheWay(engine.fs, root, change.path, removed);
  const diverged = changed.filter(
    (change) => (target.has(change.path) && isBlocked(change)) || (offBase.has(change.path) && !isResult(change.path)),
  );
  const left = new Set(diverged);
  const todo = changed.filter(
    (change) => !left.has(change) && target.has(change.path) && (choice === "discard" || !isResult(change.path)),
  );
  return {
    diverged: diverged.map(({ path }) => path),
    write: todo.filter(({ status }) => status !== gone).map(({ path }) => path),
    remove: todo.filter(({ status }) => status === gone).map(({ path }) => path),
    from: choice === "apply" ? coded : base,
  };
}

/**
 * Whether something lies where `path` is to be written that no snapshot holds: an ignored file, one in the place of a
 * folder, or a folder with something in it. What the same delivery removes is not in the way.
 */
function isInTheWay(fs: FileSystem, root: string, path: string, removed: ReadonlySet<string>): boolean {
  for (let at = dirname(path); at !== "."; at = dirname(at)) {
    const kind = entryKind(fs, join(root, at));
    if (kind !== "folder" && kind !== "absent" && !removed.has(at)) return true;
  }
  return holdsOther(fs, root, path, removed);
}

function holdsOther(fs: FileSystem, root: string, path: string, removed: ReadonlySet<string>): boolean {
  const kind = entryKind(fs, join(root, path));
  if (kind === "absent") return false;
  if (kind !== "folder") return !removed.has(path);
  return listFolder(fs, join(root, path)).some((name) => holdsOther(fs, root, `${path}/${name}`, removed));
}

function diverged(folder: RunFolder, paths: readonly string[]): { readonly ok: false; readonly error: Refusal } {
  const shown = paths.slice(0, shownMax).map((path) => JSON.stringify(path));
  const more = paths.length > shown.length ? ` and ${paths.length - shown.length} more` : "";
  return refuse(
    "apply.diverged",
    `nothing was written: these paths hold neither what was there before nor the result: ${shown.join(", ")}${more}`,
    `atlas report --run ${folder.id}`,
  ) as { readonly ok: false; readonly error: Refusal };
}
