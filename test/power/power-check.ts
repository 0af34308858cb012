/**
 * What must hold of a disk that lost its power, against what was told before: read with the engine's own reading, then
 * resumed and followed to the end by the engine's own commands.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { RunId } from "../../scripts/core/ids.ts";
import type { EventBase } from "../../scripts/core/kind.ts";
import { ORIGIN } from "../../scripts/core/line.ts";
import { readArtifact } from "../../scripts/engine/artifacts.ts";
import { type Loaded, loadRun, type RunFolder } from "../../scripts/engine/ledger.ts";
import { readLog } from "../../scripts/engine/log.ts";
import type { ChangeState } from "../../scripts/kinds/change/state.ts";
import { changeSlots, isSlotName } from "../../scripts/parts/slots.ts";
import { entryKind, listFolder } from "../../scripts/platform/files.ts";
import type { FileSystem } from "../../scripts/platform/fs.ts";
import type { MemoryDisk } from "../support/memory-disk.ts";
import { closureOf, stored, textAt } from "./git-store.ts";
import { begin, packetOf, type Told, toldOf, toTheEnd } from "./person.ts";
import { machine, project, type Sitting, sourceFile } from "./power-world.ts";

const atlas = join(project, ".atlas");

/** What somebody may rely on by now. */
export interface Acknowledged {
  /** Sums of the accepted lines, by run. */
  readonly lines: ReadonlyMap<string, readonly string[]>;
  /** Bytes of files that only the power could take away. */
  readonly files: ReadonlyMap<string, string>;
}

export const NOTHING: Acknowledged = { lines: new Map(), files: new Map() };

/** As a command or a hook returns: everything it could have spoken of. */
export function acknowledge(disk: MemoryDisk): Acknowledged {
  const files = new Map<string, string>();
  const lines = new Map<string, readonly string[]>();
  for (const folder of runsOn(disk.fs)) {
    lines.set(folder.id, sumsOf(disk.fs, folder));
    const results = join(folder.ledger, "results");
    for (const name of listFolder(disk.fs, results)) {
      if (name.endsWith(".out")) files.set(join(results, name), disk.text(join(results, name)) as string);
    }
  }
  return { lines, files };
}

export function runsOn(fs: FileSystem): readonly RunFolder[] {
  return listFolder(fs, atlas)
    .filter((name) => !name.startsWith("."))
    .flatMap((name): readonly RunFolder[] => {
      const base = { id: name as RunId, root: project, atlas };
      const adopted = join(atlas, name, "adopted");
      if (entryKind(fs, join(adopted, "log.jsonl")) !== "absent") return [{ ...base, ledger: adopted, adopted: true }];
      const isOwn = entryKind(fs, join(atlas, name, "intent.txt")) !== "absent" && !isOriginal(fs, join(atlas, name));
      return isOwn ? [{ ...base, ledger: join(atlas, name), adopted: false }] : [];
    });
}

function isOriginal(fs: FileSystem, folder: string): boolean {
  return entryKind(fs, join(folder, "original.mark")) !== "absent";
}

function sumsOf(fs: FileSystem, folder: RunFolder): readonly string[] {
  const read = readLog<EventBase>(fs, folder.ledger, ORIGIN);
  return read === null || "bad" in read ? [] : read.chain.lines.map((line) => line.sum);
}

/** What is wrong with a disk before anybody writes to it again. `before`: the same disk with nothing lost. */
export function lossesOf(after: MemoryDisk, before: MemoryDisk, told: Acknowledged): readonly string[] {
  const { fs } = after;
  const found: string[] = [];
  const runs = runsOn(fs);
  for (const [id, sums] of told.lines) {
    const run = runs.find((one) => one.id === id);
    const stand = run === undefined ? [] : sumsOf(fs, run);
    if (run === undefined) found.push(`run ${id} was told and is gone`);
    else if (sums.some((sum, at) => stand[at] !== sum)) found.push(`told lines of ${id} are lost`);
    if (new Set(stand).size !== stand.length) found.push(`a line of ${id} stands twice`);
  }
  for (const [path, text] of told.files) if (after.text(path) !== text) found.push(`${path} was told and is lost`);
  for (const run of runs) {
    const read = loadRun(fs, run);
    if (!read.ok) found.push(`${run.id} is unreadable: ${read.unreadable.reason}`);
    else if (read.loaded.kind.name === "change") found.push(...missing(fs, read.loaded as Loaded<ChangeState>));
  }
  if (runs.length > 0 && after.text(join(atlas, ".gitignore")) !== "*\n")
    found.push("runs, and nothing that hides them");
  // Written once and never again: whatever stands of it is all of it.
  for (const [path, bytes] of after.content()) {
    if (
      bytes === null ||
      !/\/(packets|artifacts)\/|\/intent\.txt$/.test(path) ||
      /\/\.new-|\/(\.tmp-[^/]*|result\.patch)$|\/command\./.test(path)
    )
      continue;
    const whole = before.text(path);
    if (whole !== null && bytes.toString("utf8") !== whole) found.push(`${path} is torn`);
  }
  return found;
}

/** What the lines name and nobody has. */
function missing(fs: FileSystem, loaded: Loaded<ChangeState>): readonly string[] {
  const { state, folder } = loaded;
  const found: string[] = [];
  const need = (slot: string, pass: number, extension: string, hash: string): void => {
    try {
      readArtifact(fs, folder, { slot, pass, extension }, hash);
    } catch (error) {
      found.push(String((error as Error).message));
    }
  };
  if (state.packet !== null) need("packet", 0, "json", state.packet);
  for (const [key, filled] of Object.entries(state.filled)) {
    const [slot = "", pass] = key.split(".");
    if (slot !== "packet")
      need(slot, Number(pass), isSlotName(slot) ? changeSlots[slot].extension : "json", filled.sha256);
  }
  for (const answer of state.gates.answers)
    if (answer.text !== undefined) need(`answer-${answer.gate}`, 0, "txt", answer.text);
  // What HEAD holds is borrowed, and borrowing is mended by the next opening.
  const stores = [join(folder.ledger, "git"), ...(state.head.commonDir === null ? [] : [state.head.commonDir])];
  const isWhole = (id: string) => stores.some((store) => closureOf(fs, join(store, "objects"), id) !== null);
  const trees = [state.base, state.checkpoint, ...Object.values(state.filled).map((filled) => filled.tree)];
  for (const tree of trees) if (tree != null && !isWhole(tree)) found.push(`tree ${tree} is not whole`);
  const { commonDir } = state.head;
  for (const tree of state.trees.all) {
    found.push(...misplaced(fs, folder, commonDir, tree));
    const ref = (tree as { readonly ref?: string | null }).ref;
    if (ref == null || commonDir === null) continue;
    const commit = textAt(fs, join(commonDir, ref))?.trim();
    if (commit === undefined || closureOf(fs, join(commonDir, "objects"), commit) === null)
      found.push(`${ref} does not hold`);
  }
  return found;
}

/** A tree the lines call ready stands under its name and is git's; one they call removed is gone. */
function misplaced(
  fs: FileSystem,
  folder: RunFolder,
  commonDir: string | null,
  tree: { readonly name: string; readonly status: string },
): readonly string[] {
  if (commonDir === null) return [];
  const trees = join(folder.ledger, "worktree");
  const entries = listFolder(fs, join(commonDir, "worktrees")).map((name) => join(commonDir, "worktrees", name));
  const path = join(trees, tree.name);
  const entry = entries.find((one) => textAt(fs, join(one, "gitdir")) === `${path}/.git\n`);
  if (tree.status === "removed") {
    const left = listFolder(fs, trees).some((name) => name === tree.name || name.endsWith(`-${tree.name}`));
    return left || entry !== undefined ? [`tree ${tree.name} was removed and is there`] : [];
  }
  if (tree.status !== "ready") return [];
  const isWhole = entry !== undefined && textAt(fs, join(path, ".git")) === `gitdir: ${entry}\n`;
  return isWhole && textAt(fs, join(entry, "commondir")) !== ""
    ? []
    : [`tree ${tree.name} is ready and no tree of git's`];
}

/** Resumes every run and follows it to its end; what goes wrong on the way. */
export async function recoveryFaults(after: MemoryDisk, sitting: Sitting, whole: boolean): Promise<readonly string[]> {
  const found: string[] = [];
  const ids = runsOn(after.fs).map((run) => run.id);
  try {
    if (ids.length === 0) {
      const one = machine(after.copy(), sitting);
      const told = await begin(one, false, packetOf(""));
      if (whole) await toTheEnd(one, told);
      return [];
    }
    for (const id of ids) {
      const [one, two] = [machine(after.copy(), sitting), machine(after.copy(), sitting)];
      const [first, second] = [await resumed(one, id), await resumed(two, id)];
      if (JSON.stringify(first) !== JSON.stringify(second)) found.push(`${id}: two recoveries tell different things`);
      const stands = logOf(one.disk, id);
      if (stands !== logOf(two.disk, id)) found.push(`${id}: two recoveries write different lines`);
      const again = await resumed(one, id);
      if (JSON.stringify(again.next) !== JSON.stringify(first.next))
        found.push(`${id}: resuming again says something else`);
      if (logOf(one.disk, id) !== stands) found.push(`${id}: resuming again writes`);
      if (!whole) continue;
      const torn = tornSource(one.disk, id);
      if (torn !== null) found.push(`${id}: ${torn}`);
      const end = await toTheEnd(one, again);
      if (end.next.do !== "report") found.push(`${id}: stops at ${end.next.do}`);
    }
  } catch (error) {
    found.push(error instanceof Error ? error.message : String(error));
  }
  return found;
}

/** What an agent, or the command, would find in the run's own tree: what the lines say of it, or it is torn. */
function tornSource(disk: MemoryDisk, id: string): string | null {
  const run = runsOn(disk.fs).find((one) => one.id === id);
  const read = run === undefined ? null : loadRun(disk.fs, run);
  if (run === undefined || read === null || !read.ok) return null;
  const { phase, leases, checkpoint, head } = read.loaded.state as ChangeState;
  const tree = "tree" in phase ? phase.tree : null;
  const isAtWork = leases?.live.some((lease) => lease.slot === "coder" && lease.started);
  if (tree === null || checkpoint === null || head.commonDir === null || isAtWork === true) return null;
  const stores = [join(run.ledger, "git", "objects"), join(head.commonDir, "objects")];
  const find = (wanted: string) => stores.map((store) => stored(disk.fs, store, wanted)).find((one) => one !== null);
  const entries = find(checkpoint);
  const blob = entries?.type === "tree" ? find(entries.entries.get(sourceFile)?.blob ?? "") : undefined;
  const wanted = blob?.type === "blob" ? blob.text : null;
  const text = disk.text(join(run.ledger, "worktree", tree, sourceFile));
  return text === wanted ? null : `${tree} holds another ${sourceFile} than its lines say`;
}

async function resumed(on: ReturnType<typeof machine>, id: string): Promise<Told> {
  const outcome = await on.run("resume", "--run", id);
  return (outcome.json.run === null ? toldOf(await on.run("next", "--run", id)) : toldOf(outcome)) as Told;
}

function logOf(disk: MemoryDisk, id: string): string {
  const run = runsOn(disk.fs).find((one) => one.id === id);
  return run === undefined ? "" : sumsOf(disk.fs, run).join();
}

export function fingerprint(disk: MemoryDisk): string {
  const hash = createHash("sha1");
  for (const [path, bytes] of disk.content()) {
    // A temporary name is drawn anew each time; nobody reads what lies under one.
    if (/\/\.tmp-[0-9a-f]{12}$|\.json\.\d+-\d+-\d+$|\/tmp_obj_\d+$/.test(path)) continue;
    hash.update(`${path}\0`);
    if (bytes !== null) hash.update(bytes);
    hash.update("\0");
  }
  return hash.digest("hex");
}
