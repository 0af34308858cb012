/** A graph run of the original, as it stands once its dead turn's frontier is reset. */
import { ok, type Result } from "../../core/result.ts";
import { type Progress, type ScannedDag, type Span, scanDag } from "./dag-scan.ts";
import {
  type DagJob,
  type Frontier,
  gasOf,
  type JobState,
  type PlanDag,
  parseDag,
  readyJobs,
  resetFrontier,
  resetJob,
  runningJobs,
} from "./plan-dag.ts";
import { nextWave } from "./wave.ts";

export interface OriginalGraph {
  readonly gas: number;
  /** Job ids in the file's order. */
  readonly ready: readonly string[];
  readonly wave: readonly string[];
  readonly terminated: boolean;
  /** Job ids the dead turn left RUNNING. */
  readonly runningBefore: readonly string[];
  readonly progress: Progress;
  /** The plan after the reset, as the bytes of a file: those of the original but for the jobs that ran. */
  readonly bytes: Uint8Array;
  /** The same as a value, made when it is first asked for. */
  readonly dag: PlanDag;
}

/** Below it the parser, which is native, is done before a walk has become hot: measured, 10,000 jobs. */
const scanBytesMin = 4 * 1024 * 1024;

/** Total over any bytes; refuses `dag.torn`. `freeMb`: free memory now. The bytes are kept, so nobody may change them. */
export function readOriginalGraph(dagBytes: Uint8Array, freeMb: number): Result<OriginalGraph> {
  const scanned = dagBytes.length < scanBytesMin ? null : scanDag(dagBytes);
  if (scanned !== null) {
    const bytes = once(() => resetBytes(dagBytes, scanned.running));
    const after = resetFrontier(scanned.frontier);
    const written = { bytes, dag: once(() => planOf(bytes())) };
    return ok(graphOf(scanned.frontier, after, scanned.progress, freeMb, written));
  }
  const parsed = parseDag(dagBytes);
  if (!parsed.ok) return parsed;
  const after = resetFrontier(parsed.value);
  const bytes = once(() => new TextEncoder().encode(JSON.stringify(after)));
  return ok(graphOf(parsed.value, after, progressOf(after), freeMb, { bytes, dag: () => after }));
}

interface Written {
  readonly bytes: () => Uint8Array;
  readonly dag: () => PlanDag;
}

function graphOf(
  before: Frontier,
  after: Frontier,
  progress: Progress,
  freeMb: number,
  { bytes, dag }: Written,
): OriginalGraph {
  const ready = readyJobs(after);
  return {
    gas: gasOf(after),
    ready: ready.map(idOf),
    wave: nextWave(after, freeMb, ready).map(idOf),
    // After a reset nothing runs.
    terminated: ready.length === 0,
    runningBefore: runningJobs(before).map(idOf),
    progress,
    get bytes() {
      return bytes();
    },
    get dag() {
      return dag();
    },
  };
}

/** Each job that ran is written anew, at its place; every other byte stays. */
function resetBytes(bytes: Uint8Array, running: ScannedDag["running"]): Uint8Array {
  if (running.length === 0) return bytes;
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const span of running) {
    parts.push(bytes.subarray(at, span.from), new TextEncoder().encode(JSON.stringify(resetJob(jobAt(bytes, span)))));
    at = span.to;
  }
  return joined([...parts, bytes.subarray(at)]);
}

function jobAt(bytes: Uint8Array, { from, to }: Span): DagJob {
  return JSON.parse(new TextDecoder().decode(bytes.subarray(from, to))) as DagJob;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function planOf(bytes: Uint8Array): PlanDag {
  const parsed = parseDag(bytes);
  if (!parsed.ok) throw new Error("a plan that was reset can no longer be read");
  return parsed.value;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function progressOf({ jobs }: PlanDag): Progress {
  const count = (state: JobState): number => jobs.reduce((sum, job) => sum + (job.state === state ? 1 : 0), 0);
  return { done: count("DONE"), failed: count("FAILED"), total: jobs.length };
}

function idOf(job: DagJob): string {
  return job.job_id;
}
