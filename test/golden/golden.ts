/** Reading a kept ledger where it lies, and what must stay true of it for ever. */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { RunId } from "../../scripts/core/ids.ts";
import { type Loaded, loadRun } from "../../scripts/engine/ledger.ts";
import type { ChangeState } from "../../scripts/kinds/change/state.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";

export function idOfLog(folder: string): RunId {
  const line = readFileSync(join(folder, "log.jsonl"), "utf8").split("\n")[1] ?? "";
  return (JSON.parse(line) as { readonly run_id: RunId }).run_id;
}

/** Folded from the first line. Throws the reason when it cannot be. */
export function readGolden(folder: string): Loaded<ChangeState> {
  const id = idOfLog(folder);
  const read = loadRun(realFileSystem, { id, root: folder, atlas: folder, ledger: folder, adopted: false }, false);
  if (!read.ok) throw new Error(`${basename(folder)}: ${read.unreadable.code}: ${read.unreadable.reason}`);
  return read.loaded as Loaded<ChangeState>;
}

/** What people and commands rely on; how the state is kept in memory may change. */
export function factsOf(loaded: Loaded<ChangeState>): Readonly<Record<string, unknown>> {
  const { state, headline, tip, kind } = loaded;
  const { head } = state;
  return {
    kind: kind.name,
    stage: state.stage,
    stages: state.stages,
    refine_passes: state.refinePasses,
    terminal: headline.terminal,
    label: state.label,
    epoch: head.epoch,
    form: head.form,
    digest: head.digest,
    gas: state.gas,
    leases: state.leases.live.map(({ lease }) => lease),
    filled: Object.keys(state.filled),
    answers: state.gates.answers.map(({ gate, choice, grade }) => ({ gate, choice, grade })),
    next: kind.next(state),
    tip,
  };
}
