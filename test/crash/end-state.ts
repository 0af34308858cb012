/** What a run came to, in what must not depend on where somebody was killed. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { clean } from "../../scripts/engine/clean.ts";
import { loadRun } from "../../scripts/engine/ledger.ts";
import type { ChangeState } from "../../scripts/kinds/change/state.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { folderOf, ownEngine } from "../support/own-engine.ts";
import type { LoggedEvent } from "../support/scripted-run.ts";
import { halfFile, worksFile } from "./agents-work.ts";
import { type CrashWorld, contentOf, gitOf } from "./crash-world.ts";
import { leftoverProcesses } from "./processes.ts";
import { type ReadRun, readRuns } from "./read-runs.ts";

export interface RunEnd {
  /** Everything that has to be the same as of a run nobody killed. */
  readonly same: Readonly<Record<string, unknown>>;
  /** Leases that came to nothing. */
  readonly wasted: readonly string[];
  readonly gasSpent: number;
  readonly gasGranted: number;
  /** What happened more than once and must not. */
  readonly doubled: readonly string[];
}

export interface EndState {
  readonly runs: readonly RunEnd[];
  /** The user's own files and branch. */
  readonly user: string;
  /** How often the frozen command ran. */
  readonly commandRuns: number;
  /** The slots agents worked for, once for each time. */
  readonly works: readonly string[];
  /** Refs under which working trees are kept. */
  readonly kept: readonly string[];
  /** Places (kept refs, trees that stand) that hold an agent's half work: it is never lost. */
  readonly halfWorks: number;
  /** Trees git still has registered, besides the user's own. */
  readonly worktrees: number;
  readonly leftovers: readonly string[];
  /** What lies in our folders, with ids, numbers and times made the same. */
  readonly places: readonly string[];
}

/** Cleans, then looks. No other process of ours writes in this world: the caller knows, the machine may not. */
export function endStateOf(world: CrashWorld): EndState {
  const processes = leftoverProcesses(world);
  const before = process.env.TMPDIR;
  process.env.TMPDIR = join(world.folder, "tmp");
  const cleaned = clean(ownEngine(world), { dryRun: false, dropKept: null }, () => false);
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
  if (!cleaned.ok) throw new Error(`clean: ${cleaned.error.code}`);
  const refs = gitOf(world, "for-each-ref", "--format=%(refname)").split("\n");
  const kept = refs.filter((ref) => /^refs\/atlas\/[^/]+\/e\d+\/kept\//.test(ref));
  const trees = gitOf(world, "worktree", "list", "--porcelain").match(/^worktree .+$/gm) ?? [];
  const own = trees.map((line) => line.slice("worktree ".length)).filter((path) => path !== world.project);
  const marksIn = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");
  return {
    runs: readRuns(world).map(endOf),
    user: [
      contentOf(world.project, [".git", ".atlas"]),
      gitOf(world, "rev-parse", "HEAD"),
      gitOf(world, "branch", "--list"),
      gitOf(world, "status", "--porcelain"),
    ].join("\n"),
    commandRuns: marksIn(join(world.folder, "home", "ran")).length,
    works: marksIn(worksFile(world)).split("\n").sort().slice(1),
    kept,
    halfWorks:
      kept.filter((ref) => gitOf(world, "ls-tree", "-r", "--name-only", ref).includes(halfFile)).length +
      own.filter((path) => existsSync(join(path, halfFile))).length,
    worktrees: own.length,
    leftovers: [
      ...leftoverFiles(world),
      ...refs.filter((ref) => ref !== "refs/heads/main" && !kept.includes(ref)),
      ...processes,
    ],
    places: placesOf(world),
  };
}

function endOf(run: ReadRun): RunEnd {
  const read = loadRun(realFileSystem, folderOf(run.folder), false);
  if (!read.ok) throw new Error(`${run.id} is unreadable: ${read.unreadable.reason}`);
  const state = read.loaded.state as ChangeState;
  const patch = join(run.folder, "artifacts", "result.patch");
  const of = (type: string): readonly LoggedEvent[] => run.events.filter((event) => event.type === type);
  return {
    same: {
      phase: state.phase.at,
      status: state.phase.at === "ended" ? state.phase.status : null,
      label: state.label,
      reasons: state.reasons,
      stages: state.stages,
      refinePasses: state.refinePasses,
      filled: Object.keys(state.filled).sort(),
      plan: state.filled["plan.0"]?.sha256 ?? null,
      checkpoint: state.checkpoint,
      base: state.base,
      patch: existsSync(patch) ? sha256(readFileSync(patch)) : null,
      marked: existsSync(join(run.folder, "..", ".finished", run.id)),
      evidence: of("evidence").map((event) => `${event.pass} ${event.ending}`),
      judged: state.judgements,
      taken: of("lease-ended").flatMap((event) => (event.why === "taken" ? [String(event.lease).split("#")[0]] : [])),
      answers: of("answered").map((event) => `${event.gate} ${event.choice} ${event.grade}`),
      live: state.leases.live.length,
      effect: state.effect?.key ?? null,
    },
    wasted: of("lease-ended").flatMap((event) => (event.why === "taken" ? [] : [`${event.lease} ${event.why}`])),
    gasSpent: of("leased").length,
    gasGranted: of("gas-granted").reduce((sum, event) => sum + Number(event.amount), 0),
    doubled: doubledIn(run.events),
  };
}

/** By what each event is told from the next of its type; a run of one pass completes each of these once. */
const once: Readonly<Record<string, readonly string[]>> = {
  born: [],
  opened: [],
  stage: ["stage"],
  filled: ["slot", "pass"],
  evidence: ["pass"],
  judged: ["pass"],
  labelled: ["label"],
  ended: ["choice"],
  abandoned: [],
  leased: ["lease"],
  "lease-ended": ["lease"],
  answered: ["nonce"],
  asked: ["nonce"],
  based: [],
  prepared: ["tree"],
  claimed: ["epoch"],
  released: ["epoch"],
  "tree-wanted": ["name"],
  "tree-ready": ["name"],
  "tree-kept": ["name"],
  "tree-removed": ["name"],
};

function doubledIn(events: readonly LoggedEvent[]): readonly string[] {
  const seen = new Set<string>();
  const doubled: string[] = [];
  for (const event of events) {
    const fields = once[event.type];
    if (fields === undefined) continue;
    const name = [event.type, ...fields.map((field) => String(event[field]))].join(" ");
    if (seen.has(name)) doubled.push(name);
    seen.add(name);
  }
  return doubled;
}

/** Git's objects are named by what they hold, and which of them a store has packed is git's affair. */
function placesOf(world: CrashWorld): readonly string[] {
  const roots = [join(world.project, ".atlas"), join(world.folder, "state"), join(world.folder, "home")];
  const paths = roots.flatMap((root) =>
    existsSync(root)
      ? readdirSync(root, { recursive: true, encoding: "utf8" }).map((path) => `${basename(root)}/${path}`)
      : [],
  );
  const same = paths.map((path) => path.replace(/[0-9a-f]{6,}/g, "*").replace(/\d+/g, "#"));
  return [...new Set(same.filter((path) => !/\/git\/objects\/|\/worktree\//.test(path)))].sort();
}

const leftoverName = /^\.tmp-|^\.new-|^taking-|\.lock$|\.job\.json$|^tmp_|\.json\.\d+-/;

function leftoverFiles(world: CrashWorld): readonly string[] {
  const found: string[] = readdirSync(join(world.folder, "tmp")).map((name) => `tmp/${name}`);
  for (const root of [join(world.project, ".atlas"), join(world.project, ".git"), join(world.folder, "state")]) {
    if (!existsSync(root)) continue;
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const isTree = /[/\\]worktree[/\\]/.test(entry.parentPath);
      const isEmptyMaking = entry.name === ".making" && readdirSync(join(entry.parentPath, entry.name)).length === 0;
      if ((!isTree && leftoverName.test(entry.name)) || isEmptyMaking) {
        found.push(join(entry.parentPath, entry.name).slice(world.folder.length + 1));
      }
    }
  }
  return found;
}

export interface Allowed {
  /** Leases that may come to nothing: an agent whose owner died, or whose last words nobody wrote down, works again. */
  readonly wastedMax: number;
  /** Runs of the command more than the uninterrupted run's: its performer was killed. */
  readonly extraCommandRuns: number;
  /** The hook that hears the human was killed: he typed what he had chosen, and where relaying suffices he did not. */
  readonly isWordLost?: boolean;
}

/** Where an end differs from the uninterrupted one by more than is allowed; empty: it does not. */
export function differences(whole: EndState, end: EndState, allowed: Allowed): readonly string[] {
  const unknown = end.places.filter((path) => !whole.places.includes(path));
  const found = [...end.leftovers, ...unknown].map((what) => `left behind: ${what}`);
  const differs = (what: string, a: unknown, b: unknown): void => {
    if (JSON.stringify(a) !== JSON.stringify(b)) {
      found.push(`${what}: ${JSON.stringify(b)} where ${JSON.stringify(a)} was to be`);
    }
  };
  differs("runs", whole.runs.length, end.runs.length);
  differs("the user's own files", whole.user, end.user);
  differs("half works", whole.halfWorks, end.halfWorks);
  if (end.kept.length > whole.kept.length + allowed.wastedMax) found.push(`kept: ${end.kept.join()}`);
  // What is kept under a ref besides may let the cleaning take one more tree.
  if (end.kept.length === whole.kept.length) differs("worktrees", whole.worktrees, end.worktrees);
  else if (end.worktrees > whole.worktrees) differs("worktrees", whole.worktrees, end.worktrees);
  for (const [at, run] of end.runs.entries()) {
    const before = whole.runs[at];
    if (before === undefined) continue;
    for (const field of Object.keys(before.same)) {
      const of = field === "answers" && allowed.isWordLost === true ? asUnheard : (value: unknown) => value;
      differs(`run ${at} ${field}`, of(before.same[field]), of(run.same[field]));
    }
    found.push(...run.doubled.map((what) => `run ${at} twice: ${what}`));
    if (run.gasSpent > run.gasGranted) found.push(`run ${at}: ${run.gasSpent} leases on ${run.gasGranted} gas`);
    // A kill is nobody's bad work: it must not count as an attempt.
    const blamed = run.wasted.filter((what) => !/ (lost|redo|moot)$/.test(what));
    if (blamed.length > 0) found.push(`run ${at}: attempts used up: ${blamed.join()}`);
    const lost = run.wasted.filter((what) => !what.endsWith(" moot"));
    if (lost.length > allowed.wastedMax) found.push(`run ${at}: leases for nothing: ${lost.join()}`);
  }
  const idle = whole.works.filter((slot) => !end.works.includes(slot));
  if (idle.length > 0) found.push(`nobody worked for ${idle.join()}`);
  const extraWorks = end.works.length - whole.works.length;
  if (extraWorks < 0 || extraWorks > allowed.wastedMax) found.push(`agents worked for ${end.works.join()}`);
  const extraRuns = end.commandRuns - whole.commandRuns;
  if (extraRuns < 0 || extraRuns > allowed.extraCommandRuns) found.push(`the command ran ${end.commandRuns} times`);
  return found;
}

function asUnheard(answers: unknown): unknown {
  return JSON.stringify(answers).replace("clarify text typed", "clarify text relayed").replaceAll(' host"', ' typed"');
}
