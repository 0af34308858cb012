/**
 * What scheduling needs of a `plan.dag.json`, taken off its bytes in one walk. Making a value of every node and job of a
 * plan of 100,000 costs more than all the rest of a resume; scheduling looks at a few of them.
 */
import { JsonWalk, OffTheWalk, OPEN_LIST, OPEN_OBJECT } from "../../core/json-walk.ts";
import { JSON_DEPTH_MAX } from "../../core/tolerant-json.ts";
import { IdSet } from "./id-set.ts";
import { bytesOf, count, JobScan, mustBePlain } from "./job-scan.ts";
import type { DagJob, Frontier } from "./plan-dag.ts";

export interface ScannedDag {
  /** The jobs that run and those that wait for nothing, in order; a job here names dependencies only where one is not done. */
  readonly frontier: Frontier;
  /** Where the jobs that run lie among the bytes, in order. */
  readonly running: readonly Span[];
  /** Of all jobs. */
  readonly progress: Progress;
}

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Progress {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

const META = bytesOf("meta");
const GAS = bytesOf("gas_remaining");
const NODES = bytesOf("nodes");
const DEPS = bytesOf("deps");
const JOBS = bytesOf("jobs");

/**
 * Null: `parseDag` has to say what these bytes are. Where it is not null, `parseDag` takes them, and its plan has the
 * same gas, the same counts, the same jobs running and the same jobs ready, before a reset and after it. Of a key that
 * stands twice the last one counts, as it does for a parser.
 */
export function scanDag(bytes: Uint8Array): ScannedDag | null {
  try {
    return new Scan(bytes).dag();
  } catch (error) {
    if (error instanceof OffTheWalk) return null;
    throw error;
  }
}

class Scan {
  private readonly bytes: Uint8Array;
  private readonly walk: JsonWalk;
  private readonly job: JobScan;
  private readonly done: IdSet;
  private readonly running: Span[] = [];
  /** Of each job that is neither done nor failed: where it begins, and where its dependencies do. */
  private readonly open: number[] = [];
  private doneCount = 0;
  private failed = 0;
  private total = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.walk = new JsonWalk(bytes, JSON_DEPTH_MAX);
    this.job = new JobScan(bytes, this.walk);
    this.done = new IdSet(bytes);
  }

  dag(): ScannedDag {
    const { walk } = this;
    let gas: number | undefined | null = null;
    let hasNodes = false;
    let hasJobs = false;
    walk.enter(OPEN_OBJECT);
    for (let more = walk.firstKey(); more; more = walk.nextKey()) {
      mustBePlain(walk);
      if (walk.is(META)) gas = this.gas();
      else if (walk.is(NODES)) {
        this.nodes();
        hasNodes = true;
      } else if (walk.is(JOBS)) {
        // A second list would take the place of the first.
        if (hasJobs) throw new OffTheWalk();
        this.jobs();
        hasJobs = true;
      } else walk.skip();
    }
    walk.end();
    if (gas === null || !hasNodes || !hasJobs) throw new OffTheWalk();
    if (walk.hasWideBytes && !isUtf8(this.bytes)) throw new OffTheWalk();
    return {
      frontier: { meta: gas === undefined ? {} : { gas_remaining: gas }, jobs: this.frontierJobs() },
      running: this.running,
      progress: { done: this.doneCount, failed: this.failed, total: this.total },
    };
  }

  private gas(): number | undefined {
    const { walk } = this;
    let gas: number | undefined;
    walk.enter(OPEN_OBJECT);
    for (let more = walk.firstKey(); more; more = walk.nextKey()) {
      mustBePlain(walk);
      if (walk.is(GAS)) gas = count(this.bytes, walk);
      else walk.skip();
    }
    return gas;
  }

  private nodes(): void {
    const { walk } = this;
    walk.enter(OPEN_OBJECT);
    for (let node = walk.firstKey(); node; node = walk.nextKey()) {
      walk.enter(OPEN_OBJECT);
      for (let more = walk.firstKey(); more; more = walk.nextKey()) {
        mustBePlain(walk);
        if (!walk.is(DEPS)) {
          walk.skip();
          continue;
        }
        walk.enter(OPEN_LIST);
        for (let dep = walk.firstItem(); dep; dep = walk.nextItem()) walk.string();
      }
    }
  }

  private jobs(): void {
    const { walk, job } = this;
    walk.enter(OPEN_LIST);
    for (let more = walk.firstItem(); more; more = walk.nextItem()) {
      walk.next();
      const from = walk.at;
      job.step();
      this.total += 1;
      if (job.state === "DONE") {
        this.doneCount += 1;
        this.done.add(job.idFrom, job.idTo);
      } else if (job.state === "FAILED") this.failed += 1;
      else {
        if (job.state === "RUNNING") this.running.push({ from, to: walk.at });
        this.open.push(from, job.depsAt);
      }
    }
  }

  /** Once it is known which jobs are done. */
  private frontierJobs(): readonly DagJob[] {
    const { open, running } = this;
    const jobs: DagJob[] = [];
    let next = 0;
    for (let at = 0; at < open.length; at += 2) {
      const from = open[at] as number;
      const runs = running[next]?.from === from;
      if (runs) next += 1;
      const isMet = this.isMet(open[at + 1] as number);
      if (isMet || runs) jobs.push(this.job.jobAt(from, isMet));
    }
    return jobs;
  }

  private isMet(depsAt: number): boolean {
    if (depsAt < 0) return true;
    const { walk } = this;
    walk.at = depsAt;
    walk.enter(OPEN_LIST);
    let isMet = true;
    for (let dep = walk.firstItem(); dep; dep = walk.nextItem()) {
      walk.string();
      isMet &&= this.done.has(walk.from, walk.to);
    }
    return isMet;
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
