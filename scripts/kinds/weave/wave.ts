/**
 * The original's admission table: which ready jobs go out together. It is the table of the first wave of an adopted
 * graph; our own runs have their own.
 */
import { type DagJob, type Frontier, gasOf, readyJobs, runningJobs } from "./plan-dag.ts";

/** Jobs of one run that may be out at a time. */
export const WAVE_WIDTH_MAX = 3;
/** Resident memory of the root session. */
export const ROOT_MB = 1024;
/** Root and all jobs together stay at or below this. */
export const CEILING_MB = 4608;
/** Free memory that must remain after the new jobs. */
export const FREE_FLOOR_MB = 3072;

type MemoryClass = "read-only" | "coder" | "build";

const classMb: Readonly<Record<MemoryClass, number>> = { "read-only": 700, coder: 1300, build: 2048 };

/** Unknown kinds count as the dearest class, so the ceiling is never under-counted. */
const classOfKind: ReadonlyMap<unknown, MemoryClass> = new Map<unknown, MemoryClass>([
  ["SCOUT", "read-only"],
  ["CRITIC", "read-only"],
  ["DECOMPOSE", "read-only"],
  ["DRAFT", "coder"],
  ["CODE", "coder"],
  ["LEAF", "coder"],
]);

/**
 * The next wave, greedy in the file's order: a job that does not fit is passed over, not waited for. At most as many
 * as there is gas. Progress floor: nothing running, nothing fits, but work and gas are there → the first of the
 * smallest class goes alone, whatever the memory. `freeMb` is the free memory now; running jobs are already in it.
 * `ready`: the plan's ready jobs, where they are known already.
 */
export function nextWave(dag: Frontier, freeMb: number, ready: readonly DagJob[] = readyJobs(dag)): readonly DagJob[] {
  const running = runningJobs(dag).map(classOf);
  const jobsMax = Math.min(WAVE_WIDTH_MAX - running.length, gasOf(dag));
  const load: Load = { classes: [...running], freeMb };
  const wave: DagJob[] = [];
  for (const job of ready) {
    if (wave.length >= jobsMax) break;
    const memory = classOf(job);
    if (!isAdmitted(load, memory)) continue;
    load.classes.push(memory);
    load.freeMb -= classMb[memory];
    wave.push(job);
  }
  if (wave.length === 0 && running.length === 0) return smallest(ready);
  return wave;
}

interface Load {
  /** Of every job out: running and new. */
  readonly classes: MemoryClass[];
  /** What the new jobs leave. */
  freeMb: number;
}

function isAdmitted(load: Load, memory: MemoryClass): boolean {
  if (load.classes.length >= WAVE_WIDTH_MAX) return false;
  const usedMb = load.classes.reduce((sum, one) => sum + classMb[one], ROOT_MB);
  if (usedMb + classMb[memory] > CEILING_MB) return false;
  if (!(load.freeMb - classMb[memory] >= FREE_FLOOR_MB)) return false;
  // A build and a coder would fit the ceiling; two of them on one machine still starve each other.
  if (memory === "build") return load.classes.every((one) => one === "read-only");
  if (memory === "coder") return !load.classes.includes("build");
  return true;
}

function classOf(job: DagJob): MemoryClass {
  return classOfKind.get(job.kind) ?? "build";
}

function smallest(ready: readonly DagJob[]): readonly DagJob[] {
  let best: DagJob | undefined;
  for (const job of ready) {
    if (best === undefined || classMb[classOf(job)] < classMb[classOf(best)]) best = job;
  }
  return best === undefined ? [] : [best];
}
