/** A graph run of the original, as it stands once its dead turn's frontier is reset. */
import { ok, type Result } from "../../core/result.ts";
import { gasOf, isTerminated, type PlanDag, parseDag, readyJobs, resetFrontier, runningJobs } from "./plan-dag.ts";
import { nextWave } from "./wave.ts";

export interface OriginalGraph {
  readonly gas: number;
  /** Job ids in the file's order. */
  readonly ready: readonly string[];
  readonly wave: readonly string[];
  readonly terminated: boolean;
  /** After the reset. */
  readonly dag: PlanDag;
  /** Job ids the dead turn left RUNNING. */
  readonly runningBefore: readonly string[];
  readonly progress: { readonly done: number; readonly failed: number; readonly total: number };
}

/** Total over any bytes; refuses `dag.torn`. `freeMb`: free memory now. */
export function readOriginalGraph(dagBytes: Uint8Array, freeMb: number): Result<OriginalGraph> {
  const parsed = parseDag(dagBytes);
  return parsed.ok ? ok(graphAfterReset(parsed.value, freeMb)) : parsed;
}

/** The same for a DAG that is already read. */
export function graphAfterReset(before: PlanDag, freeMb: number): OriginalGraph {
  const dag = resetFrontier(before);
  return {
    gas: gasOf(dag),
    ready: readyJobs(dag).map(idOf),
    wave: nextWave(dag, freeMb).map(idOf),
    terminated: isTerminated(dag),
    dag,
    runningBefore: runningJobs(before).map(idOf),
    progress: {
      done: dag.jobs.filter((job) => job.state === "DONE").length,
      failed: dag.jobs.filter((job) => job.state === "FAILED").length,
      total: dag.jobs.length,
    },
  };
}

function idOf(job: { readonly job_id: string }): string {
  return job.job_id;
}
