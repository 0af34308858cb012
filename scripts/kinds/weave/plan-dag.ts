/**
 * The seed's `plan.dag.json`: its shape, and what a dead turn leaves of it. All functions are pure and linear in
 * the number of jobs; what they do not know they carry along untouched.
 * (Only node ids that look like array indexes change their place among `nodes`: the language orders those first.)
 */
import { ok, type Refusal, type Result, refuse } from "../../core/result.ts";
import { isRecord, isTextList, parseTolerantDocument } from "../../core/tolerant-json.ts";

export const JOB_STATES = ["PENDING", "RUNNING", "DONE", "FAILED"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** Bad endings a job may have before it is no longer handed out. */
export const ATTEMPTS_MAX = 2;

export interface DagMeta {
  /** Absent counts as 0. */
  readonly gas_remaining?: number;
  readonly [key: string]: unknown;
}

export interface DagNode {
  readonly deps?: readonly string[];
  readonly [key: string]: unknown;
}

export interface DagJob {
  /** `<node>#0` */
  readonly job_id: string;
  /** Ids of jobs, not of nodes. */
  readonly deps?: readonly string[];
  readonly attempts?: number;
  /** Absent counts as PENDING. */
  readonly state?: JobState;
  readonly lease?: unknown;
  readonly [key: string]: unknown;
}

/** What scheduling needs of a plan. */
export interface Frontier {
  readonly meta: DagMeta;
  readonly jobs: readonly DagJob[];
}

export interface PlanDag extends Frontier {
  readonly nodes: Readonly<Record<string, DagNode>>;
  readonly [key: string]: unknown;
}

/** Total over any bytes; refuses `dag.torn`. The caller bounds the size. No text of the file stands in the reason. */
export function parseDag(bytes: Uint8Array): Result<PlanDag> {
  const parsed = parseTolerantDocument(bytes);
  if (!parsed.ok) return torn(parsed.why === "empty" ? "is empty" : "is cut off or is no JSON");
  const fault = faultOf(parsed.value);
  return fault === null ? ok(parsed.value as PlanDag) : torn(fault);
}

/**
 * The frontier a dead turn left, made ready again: every RUNNING job becomes PENDING and loses its lease.
 * Attempts and gas stay: the interrupted hand-out has spent its fuel, and an interruption is no failure of the agent.
 * Nothing is dropped or reordered; the input is not changed; doing it twice is doing it once.
 */
export function resetFrontier<F extends Frontier>(dag: F): F {
  return { ...dag, jobs: dag.jobs.map(resetJob) };
}

/** Jobs that may be handed out now, in the file's order: gas left, PENDING, attempts left, every dependency DONE. */
export function readyJobs(dag: Frontier): readonly DagJob[] {
  if (gasOf(dag) <= 0) return [];
  const done = new Set<string>();
  for (const job of dag.jobs) if (job.state === "DONE") done.add(job.job_id);
  return dag.jobs.filter(
    (job) =>
      (job.state ?? "PENDING") === "PENDING" &&
      (job.attempts ?? 0) < ATTEMPTS_MAX &&
      (job.deps ?? []).every((dep) => done.has(dep)),
  );
}

/** Nothing runs and nothing can be handed out. */
export function isTerminated(dag: Frontier): boolean {
  return runningJobs(dag).length === 0 && readyJobs(dag).length === 0;
}

export function runningJobs(dag: Frontier): readonly DagJob[] {
  return dag.jobs.filter((job) => job.state === "RUNNING");
}

export function gasOf(dag: Frontier): number {
  return dag.meta.gas_remaining ?? 0;
}

/** One job of a reset frontier. */
export function resetJob(job: DagJob): DagJob {
  if (job.state !== "RUNNING") return job;
  const { lease: _dead, ...rest } = job;
  // Said again because the rest of an index signature loses the known keys.
  return { ...(rest as Omit<DagJob, "lease"> & { readonly job_id: string }), state: "PENDING" };
}

const states: ReadonlySet<unknown> = new Set(JOB_STATES);

function faultOf(value: unknown): string | null {
  if (!isRecord(value)) return "is not an object";
  const { meta, nodes, jobs } = value;
  if (!isRecord(meta)) return "has no meta";
  if (meta.gas_remaining !== undefined && !Number.isSafeInteger(meta.gas_remaining))
    return "has a gas that is no count";
  if (!isRecord(nodes)) return "has no nodes";
  for (const node of Object.values(nodes)) {
    if (!isRecord(node)) return "has a node that is not an object";
    if (node.deps !== undefined && !isTextList(node.deps)) return "has a node whose deps are no list of ids";
  }
  if (!Array.isArray(jobs)) return "has no list of jobs";
  for (let at = 0; at < jobs.length; at += 1) {
    const fault = jobFault(jobs[at]);
    if (fault !== null) return `has ${fault} (job ${at + 1})`;
  }
  return null;
}

function jobFault(job: unknown): string | null {
  if (!isRecord(job)) return "a job that is not an object";
  if (typeof job.job_id !== "string") return "a job without an id";
  if (job.deps !== undefined && !isTextList(job.deps)) return "a job whose deps are no list of ids";
  if (job.state !== undefined && !states.has(job.state)) return "a job in a state of no known name";
  const { attempts } = job;
  if (attempts !== undefined && !(Number.isSafeInteger(attempts) && (attempts as number) >= 0)) {
    return "a job whose attempts are no count";
  }
  return null;
}

function torn(fault: string): { readonly ok: false; readonly error: Refusal } {
  return refuse("dag.torn", `plan.dag.json ${fault}`, "atlas doctor");
}
