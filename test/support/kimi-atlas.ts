import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type OriginalFiles, type OriginalRun, readOriginalRun } from "../../scripts/kinds/change/original.ts";
import { parseDag } from "../../scripts/kinds/weave/plan-dag.ts";

/** Ledgers written by the original itself, and its own answers about them. */
export const worldsFolder = join(import.meta.dirname, "../fixtures/kimi-atlas");

export interface Expected {
  readonly run?: string | null;
  readonly current_state?: string;
  readonly refine_passes?: number;
  readonly running_before?: readonly string[];
  readonly gas_remaining?: number;
  readonly dag_after?: unknown;
  readonly ready_after?: readonly string[];
  readonly wave_after?: readonly string[];
  readonly terminated_after?: boolean;
  readonly runs?: readonly { readonly run_id: string; readonly has_dag: boolean; readonly state: string }[];
}

export const expectedOf = JSON.parse(readFileSync(join(worldsFolder, "expected.json"), "utf8")) as Readonly<
  Record<string, Expected>
>;

export const worlds = Object.keys(expectedOf);

/** The bytes of one run's files; a DAG is still unread. */
export interface RunBytes {
  readonly state: Uint8Array | null;
  readonly log: Uint8Array | null;
  readonly intent: Uint8Array | null;
  readonly dag: Uint8Array | null;
  readonly id: string;
}

export function runsOf(world: string): readonly RunBytes[] {
  const base = join(worldsFolder, world, ".atlas");
  return readdirSync(base)
    .sort()
    .map((id) => bytesOf(join(base, id), id));
}

export function bytesOf(folder: string, id: string): RunBytes {
  const read = (name: string) => (existsSync(join(folder, name)) ? readFileSync(join(folder, name)) : null);
  return {
    state: read("state.json"),
    log: read("log.jsonl"),
    intent: read("intent.txt"),
    dag: read("plan.dag.json"),
    id,
  };
}

export function filesOf(run: RunBytes): OriginalFiles {
  const dag = run.dag === null ? "absent" : parseDag(run.dag);
  return { state: run.state, log: run.log, intent: run.intent, dag, idOfFolder: run.id };
}

export function readRun(run: RunBytes): OriginalRun {
  return readOriginalRun(filesOf(run));
}
