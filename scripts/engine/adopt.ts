/**
 * Adopting a run of the original: our own ledger is born in `adopted/` below it, and says in its first line what the
 * foreign files were. No foreign byte is changed.
 */
import { join } from "node:path";
import type { InvocationForm } from "../core/head.ts";
import type { EventBase } from "../core/kind.ts";
import { type NonEmpty, ok, type Refusal, type Result, refuse } from "../core/result.ts";
import { type ChangeStage, isChangeStage, isWeaveStage } from "../core/stage-names.ts";
import { packetDoor } from "../kinds/change/doors.ts";
import type { ChangeEvent } from "../kinds/change/events.ts";
import { hasListedCommands } from "../kinds/change/listed-commands.ts";
import type { ReadableOriginal } from "../kinds/change/original.ts";
import { PRODUCT } from "../kinds/change/product.ts";
import type { WeaveEvent } from "../kinds/weave/kind.ts";
import { CHANGE_GAS } from "../parts/gas.ts";
import { asPass } from "../parts/passes.ts";
import { entryKind, listFolder, replaceFile } from "../platform/files.ts";
import { sha256 } from "../platform/hash.ts";
import { bear, type NewRun } from "./birth.ts";
import type { Engine } from "./context.ts";
import { withSetup } from "./discover-setup.ts";
import { keptBefore } from "./effects.ts";
import type { Loaded, RunFolder } from "./ledger.ts";
import { halfTheMachine } from "./memory.ts";
import { digestOf, hashOriginal, type ReadOriginal } from "./originals.ts";
import { PACKET_ARTIFACT } from "./packets.ts";
import type { FoundRun } from "./runs.ts";

/** Names of trees in the first line; a line holds 64 KiB. */
const treeBytesMax = 24 * 1024;

/** Refuses `adopt.unreadable`, `adopt.unknown_stage`, `adopt.finished`, `run.exists`. */
export function adopt(
  engine: Engine,
  found: FoundRun,
  place: { readonly commonDir: string | null },
  form: InvocationForm,
): Result<RunFolder, Refusal> {
  const run = found.original?.run;
  if (run === undefined || !run.readable) {
    return refuse("adopt.unreadable", `run ${found.view.id} cannot be read: ${found.view.why}`, "atlas doctor");
  }
  if (run.terminal) return refuse("adopt.finished", `run ${run.id} is finished`, "atlas status --all");
  const foreign = join(found.folder.atlas, found.folder.id);
  const files = hashOriginal(engine.fs, foreign, found.original);
  const folder: RunFolder = { ...found.folder, ledger: join(foreign, "adopted"), adopted: true };
  const born: ChangeEvent & WeaveEvent = {
    type: "born",
    kind: run.graph ? "weave" : "change",
    origin: "kimi-atlas",
    form,
    digest: digestOf(files),
    root: folder.root,
    top: null,
    commonDir: place.commonDir,
  };
  const claimed: ChangeEvent & WeaveEvent = {
    type: "claimed",
    epoch: 1,
    version: 1,
    owner: engine.self,
    why: "born",
    carried: [],
    exclusive: engine.exclusive,
  };
  const trees = deadTrees(engine, foreign, place.commonDir, run).map(
    (name): Extract<ChangeEvent, { type: "tree-wanted" }> => ({ type: "tree-wanted", name, from: null, foreign: true }),
  );
  const adopted = run.graph
    ? graphRun(found, born.digest)
    : singleRun(engine, folder.root, form, run, files, born.digest, trees);
  if (!adopted.ok) return adopted;
  const { events, artifacts, intent } = adopted.value;
  const [first, ...rest] = events;
  const all: NonEmpty<EventBase> = run.graph
    ? [born, claimed, first, ...rest, ...trees]
    : [born, claimed, first, ...rest];
  const outcome = bear(engine, { folder, events: all, intent, artifacts });
  if (outcome.ok && run.graph) writeDagView(engine, folder, found);
  return outcome;
}

type Parts = Pick<NewRun, "artifacts" | "intent"> & { readonly events: NonEmpty<EventBase> };

function singleRun(
  engine: Engine,
  root: string,
  form: InvocationForm,
  run: ReadableOriginal,
  files: ReturnType<typeof hashOriginal>,
  foreign: string,
  trees: readonly Extract<ChangeEvent, { type: "tree-wanted" }>[],
): Result<Parts> {
  if (!isChangeStage(run.stage)) {
    return refuse("adopt.unknown_stage", `run ${run.id} stands at a stage this atlas does not know`, "atlas doctor");
  }
  const packet = packetOf(engine, root, form, run);
  const losses = [...new Set([...run.losses.map((loss) => loss.code), ...(packet === null ? ["packet"] : [])])];
  const gas: ChangeEvent = { type: "gas-granted", amount: CHANGE_GAS, why: "adopted" };
  const adopted: ChangeEvent = {
    type: "adopted",
    stage: run.stage,
    pass: asPass(run.refinePasses),
    stages: run.stages.filter((stage): stage is ChangeStage => isChangeStage(stage)),
    packet: packet === null ? null : sha256(packet.bytes),
    hasCommand: packet?.hasCommand ?? false,
    listedCommand: packet?.isListed ?? false,
    ...(packet === null || packet.assumed.length === 0 ? {} : { hasSetup: true, assumed: packet.assumed }),
    baseline: packet?.baseline ?? null,
    losses,
    files: files.filter((file) => !file.path.startsWith("tasks/")),
    foreign,
    trees: trees.map((tree) => tree.name),
  };
  const artifacts = packet === null ? [] : [{ name: PACKET_ARTIFACT, bytes: packet.bytes }];
  return ok({ events: [gas, adopted, ...trees], artifacts, intent: run.intent });
}

/** The original's packet through our own door: what would not be taken from a user is not taken from a file. */
function packetOf(
  engine: Engine,
  root: string,
  form: InvocationForm,
  run: ReadableOriginal,
): {
  readonly bytes: Uint8Array;
  readonly hasCommand: boolean;
  readonly isListed: boolean;
  /** Only a set-up can be: the original knew none. */
  readonly assumed: readonly string[];
  readonly baseline: string | null;
} | null {
  if (run.packet === null) return null;
  const { intent, successCriteria, scopePaths, verifyCommand, baseline } = run.packet;
  const value = { intent, success_criteria: successCriteria, scope_paths: scopePaths, verify_cmd: verifyCommand };
  const checked = packetDoor(value, { memoryBytes: halfTheMachine(), recovered: true });
  if (!checked.ok) return null;
  const plain = { packet: checked.value.packet, assumed: [] };
  const { packet, assumed } =
    form === "headless" ? withSetup(engine.fs, root, plain.packet, engine.environment) : plain;
  const known = typeof baseline === "string" && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(baseline) ? baseline : null;
  return {
    bytes: Buffer.from(`${JSON.stringify(packet, null, 2)}\n`, "utf8"),
    hasCommand: packet.verify_cmd !== "",
    isListed: hasListedCommands(packet),
    assumed,
    baseline: known,
  };
}

function graphRun(found: FoundRun, foreign: string): Result<Parts> {
  const graph = found.original?.graph;
  const run = found.original?.run;
  if (graph == null || run === undefined || !run.readable) {
    return refuse("adopt.unreadable", `run ${found.view.id} has no readable plan.dag.json`, "atlas doctor");
  }
  const { bytes } = graph;
  const hash = sha256(bytes);
  const adopted: WeaveEvent = {
    type: "graph-adopted",
    stage: isWeaveStage(run.stage) ? run.stage : "unknown",
    dag: hash,
    foreign,
    losses: run.losses.map((loss) => loss.code),
  };
  return ok({ events: [adopted], artifacts: [{ name: DAG_ARTIFACT, bytes, hash }], intent: run.intent });
}

export const DAG_ARTIFACT = { slot: "dag", pass: 0, extension: "json" } as const;

/** The reset DAG in the seed's shape and place, for people; the artifact is what counts. */
function writeDagView(engine: Engine, folder: RunFolder, found: FoundRun): void {
  const bytes = found.original?.graph?.bytes;
  if (bytes !== undefined) replaceFile(engine.fs, join(folder.ledger, "plan.dag.json"), bytes, false);
}

/** What lies where the dead turn made its trees; whether it is one is looked at when it is kept. */
function deadTrees(
  engine: Engine,
  foreign: string,
  commonDir: string | null,
  run: ReadableOriginal,
): readonly string[] {
  const tasks = join(foreign, "tasks");
  const nodes = entryKind(engine.fs, tasks) === "folder" ? listFolder(engine.fs, tasks) : [];
  const candidates = ["worktree", "union-worktree", ...nodes.map((node) => `tasks/${node}/worktree`)];
  const found: string[] = [];
  let bytes = 0;
  for (const name of candidates) {
    const kept =
      name === PRODUCT && !run.graph && commonDir !== null && keptBefore(engine.git, commonDir, run.id) !== null;
    if (entryKind(engine.fs, join(foreign, name)) === "absent" && !kept) continue;
    bytes += Buffer.byteLength(JSON.stringify({ type: "tree-wanted", name, from: null, foreign: true })) * 2;
    if (bytes > treeBytesMax) break;
    found.push(name);
  }
  return found;
}

/**
 * A foreign file that changed since adoption is somebody still writing there: nothing goes on from an old copy.
 * `read`: the run as this command has read it.
 */
export function checkForeign(engine: Engine, loaded: Loaded, read: ReadOriginal | null = null): Result<null, Refusal> {
  const { head } = loaded.state;
  if (head.origin !== "kimi-atlas") return ok(null);
  const now = digestOf(hashOriginal(engine.fs, join(loaded.folder.atlas, loaded.folder.id), read));
  if (now === head.digest) return ok(null);
  return refuse(
    "adopt.diverged",
    `the original's files of run ${loaded.folder.id} changed after they were adopted`,
    `atlas resume --run ${loaded.folder.id} --readopt`,
  );
}
