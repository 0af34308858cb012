/** Opening a run. The same packet in the same place is a resume of the run it opened before. */
import { join } from "node:path";
import type { InvocationForm } from "../core/head.ts";
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import type { Packet, PacketChecked } from "../kinds/change/door-packet.ts";
import type { ChangeEvent } from "../kinds/change/events.ts";
import { change } from "../kinds/change/kind.ts";
import { CHANGE_GAS } from "../parts/gas.ts";
import { sha256 } from "../platform/hash.ts";
import { repositoryAt } from "../platform/repository.ts";
import { bear, makePlace } from "./birth.ts";
import { tokenOf } from "./change-run.ts";
import type { Engine } from "./context.ts";
import { withDefaults } from "./discover.ts";
import { withSetup } from "./discover-setup.ts";
import type { RunFolder } from "./ledger.ts";
import { PACKET_ARTIFACT } from "./packets.ts";
import { proceed } from "./proceed.ts";
import { type Resumed, type ResumeWish, resumeRun } from "./resume.ts";
import { type Found, findRun, findRuns } from "./runs.ts";
import { assignId } from "./start-id.ts";
import { load } from "./transact.ts";

/** A resume of a run that is already chosen, with nothing wished for. */
export const plainResume: ResumeWish = {
  run: null,
  claim: null,
  newest: false,
  takeOver: false,
  trust: false,
  readopt: false,
  redo: null,
  waitMs: 0,
  headless: false,
};

/** Refuses `start.unfinished`, `run.owned`, `tree.no_git`, `tree.no_files`, `run.exists`. */
export async function start(
  engine: Engine,
  checked: PacketChecked,
  /** The packet as it was handed in: the same bytes in the same place are the same run. */
  given: Uint8Array,
  headless: boolean,
): Promise<Result<Resumed, Refusal>> {
  const form: InvocationForm = headless ? "headless" : checked.packet.invocation_form;
  const found = findRuns(engine);
  const root = rootOf(engine, found);
  const repository = repositoryAt(engine.git, engine.cwd);
  if (form === "headless" && repository === null) {
    return refuse("tree.no_git", "a headless run works in its own worktree, and this is no git repository", "git init");
  }
  if (repository !== null && repository.topLevel === null) {
    const why = "this is a bare repository, or the inside of a git folder: there are no files here to work on";
    return refuse("tree.no_files", why, "git worktree add ../work");
  }
  const packet: Packet = { ...checked.packet, invocation_form: form };
  const digest = sha256(JSON.stringify([sha256(given), root, form]));
  const before = found.runs.find((run) => run.loaded?.state.head.digest === digest && !run.view.terminal);
  if (before !== undefined) return resumeRun(engine, found, before, plainResume);
  const unfinished = found.runs.find(
    (run) =>
      run.view.owner?.standing === "ours" && run.view.owner.session === engine.self.session && !run.view.terminal,
  );
  if (unfinished !== undefined) {
    return refuse(
      "start.unfinished",
      `this session has an unfinished run, ${unfinished.view.id}`,
      `atlas resume --run ${unfinished.view.id}`,
    );
  }
  const top = repository?.topLevel ?? null;
  const filled =
    form === "headless" ? headlessPacket(engine, top ?? root, packet, checked.missing) : { packet, assumed: [] };
  const bytes = Buffer.from(`${JSON.stringify(filled.packet, null, 2)}\n`, "utf8");
  const atlas = makePlace(engine.fs, root);
  const id = assignId(engine, atlas, digest);
  const folder: RunFolder = { id, root, atlas, ledger: join(atlas, id), adopted: false };
  const events: readonly [ChangeEvent, ...ChangeEvent[]] = [
    {
      type: "born",
      kind: change.name,
      origin: "atlas",
      form,
      digest,
      root,
      top: top === null || top === root ? null : top,
      commonDir: repository?.commonDir ?? null,
    },
    {
      type: "claimed",
      epoch: 1,
      version: change.version,
      owner: engine.self,
      why: "born",
      carried: [],
      exclusive: engine.exclusive,
    },
    { type: "gas-granted", amount: CHANGE_GAS, why: "birth" },
    {
      type: "opened",
      packet: sha256(bytes),
      missing: form === "headless" ? [] : checked.missing,
      assumed: filled.assumed,
      hasCommand: filled.packet.verify_cmd !== "",
      ...(filled.packet.setup_cmd === undefined ? {} : { hasSetup: true }),
      baseline: repository?.head ?? null,
    },
    { type: "stage", stage: "INIT" },
  ];
  const born = bear(engine, { folder, events, intent: packet.intent, artifacts: [{ name: PACKET_ARTIFACT, bytes }] });
  if (!born.ok) {
    // Another start of the same packet was first: this one is its resume.
    const twin = born.error.code === "run.exists" ? findRun(engine, id) : null;
    return twin === null ? born : resumeRun(engine, found, twin, plainResume);
  }
  const opened = load(engine, folder);
  if (!opened.ok) return opened;
  const proceeded = await proceed(engine, folder, { claim: tokenOf(opened.value) });
  if (!proceeded.ok) return proceeded;
  return ok({ ...proceeded.value, did: ["opened", ...proceeded.value.did], id, original: null });
}

function headlessPacket(engine: Engine, root: string, packet: Packet, missing: PacketChecked["missing"]) {
  const filled = withDefaults(engine.fs, root, packet, missing);
  const prepared = withSetup(engine.fs, root, filled.packet, engine.environment);
  return { packet: prepared.packet, assumed: [...filled.assumed, ...prepared.assumed] };
}

/** A found place first; else the main worktree's root, a bare repository's linked worktree, or the cwd. */
function rootOf(engine: Engine, found: Found): string {
  const place = found.places.find((one) => one.trusted);
  if (place !== undefined) return place.root;
  return found.mainRoot ?? repositoryAt(engine.git, engine.cwd)?.topLevel ?? engine.cwd;
}
