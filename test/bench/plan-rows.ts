/** How the work on a plan grows with its jobs, in memory: against n log n from a plan with a tenth of them. */
import { readOriginalGraph } from "../../scripts/kinds/weave/original.ts";
import {
  type DagJob,
  isTerminated,
  type PlanDag,
  readyJobs,
  resetFrontier,
} from "../../scripts/kinds/weave/plan-dag.ts";
import { nextWave } from "../../scripts/kinds/weave/wave.ts";
import { type Measured, median, type Row } from "./measure.ts";

const freeMb = 65_536;
const rounds = 15;

export const planRows: readonly Row[] = [
  {
    what: "plan, dispatch, receipt until 1,000 nodes are done, in memory",
    budget: 1,
    missing: "graph runs are adopted and told so far; nothing drains one yet",
    measure: () => null,
  },
  ...[10_000, 100_000].map((count) => ({
    what: `reset, ready set and wave of a ${count.toLocaleString("en")}-job plan: looks at a job, against n log n`,
    budget: 1,
    measure: (): Measured => ({ unit: "steps", ours: looksAt(count), theirs: grown(looksAt(count / 10), count) }),
  })),
  {
    what: "reading, reset, ready set and wave of a 100,000-job plan, against n log n",
    budget: 1,
    measure: () => ({ unit: "ms", ours: readingMs(100_000), theirs: grown(readingMs(10_000), 100_000) }),
  },
];

/** What n log n makes of a tenth's cost. */
function grown(tenth: number, count: number): number {
  return (tenth * 10 * Math.log(count)) / Math.log(count / 10);
}

/** How often a property of any job is looked at. */
function looksAt(count: number): number {
  let looks = 0;
  const watched = (job: DagJob): DagJob =>
    new Proxy(job, {
      get: (target, key) => {
        looks += 1;
        return Reflect.get(target, key);
      },
    });
  const plan = planOf(count);
  const reset = resetFrontier({ ...plan, jobs: plan.jobs.map(watched) });
  nextWave(reset, freeMb, readyJobs(reset));
  isTerminated(reset);
  return looks;
}

function readingMs(count: number): number {
  const bytes = new TextEncoder().encode(JSON.stringify(planOf(count), null, 2));
  return median(
    Array.from({ length: rounds }, () => {
      const begun = performance.now();
      if (!readOriginalGraph(bytes, freeMb).ok) throw new Error("the plan was refused");
      return performance.now() - begun;
    }),
  );
}

/** As the original writes it: a third of the jobs are done, one runs, each waits for the third before it. */
export function planOf(count: number): PlanDag {
  const names = Array.from({ length: count }, (_, at) => `n${at}`);
  const stateOf = (node: string, at: number): Pick<DagJob, "state" | "lease"> =>
    at < count / 3
      ? { state: "DONE" }
      : at < count / 3 + 1
        ? { state: "RUNNING", lease: `${node}#0#0` }
        : { state: "PENDING" };
  return {
    meta: { gas_remaining: count * 3, depth_max: 4, node_max: count, next_seq: 0 },
    nodes: Object.fromEntries(
      names.map((node, at) => [
        node,
        {
          kind: "LEAF",
          depth: 0,
          deps: at > 2 ? [`n${at - 3}`] : [],
          scope_paths: [`src/${node}`],
          success_criteria_subset: ["c"],
          children: [],
        },
      ]),
    ),
    jobs: names.map((node, at) => ({
      job_id: `${node}#0`,
      node_id: node,
      kind: "LEAF",
      deps: at > 2 ? [`n${at - 3}#0`] : [],
      attempts: 0,
      ...stateOf(node, at),
    })),
  };
}
