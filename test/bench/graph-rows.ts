/** What resuming graph runs of the original costs. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { againstNode, type Bench, type Row, timed } from "./measure.ts";
import { planOf } from "./plan-rows.ts";

export const graphRows: readonly Row[] = [
  {
    what: "resume of a 1,000-node graph run",
    budget: 2.5,
    measure: (bench) => againstNode(bench, resumeOf(bench, graphOf(bench, "graph-1000", 1000))),
  },
  {
    what: "resume of a 100,000-job plan.dag.json",
    // A third of the original's: 5.4 s where bare node took 0.07 s.
    budget: 5.4 / 0.07 / 3,
    measure: (bench) => againstNode(bench, resumeOf(bench, graphOf(bench, "graph-100000", 100_000))),
  },
];

/** A graph run of the original with `count` jobs. */
function graphOf(bench: Bench, name: string, count: number): string {
  const folder = bench.project(name);
  const run = join(folder, ".atlas", "sess-g");
  mkdirSync(run, { recursive: true });
  const state = {
    run_id: "sess-g",
    created_ts: "2026-11-30T17:28:02Z",
    updated_ts: "2026-11-30T17:28:02Z",
    current_state: "SCHEDULE",
    intent: "x",
    success_criteria: ["c"],
    stages: {},
    refine_passes: 0,
    draft_ref: "",
    verify_cmd: "true",
    scope_paths: ["src"],
    baseline_sha: "",
  };
  writeFileSync(join(run, "plan.dag.json"), JSON.stringify(planOf(count), null, 2));
  writeFileSync(join(run, "state.json"), JSON.stringify(state, null, 2));
  writeFileSync(join(run, "intent.txt"), "x");
  writeFileSync(
    join(run, "log.jsonl"),
    '{"run_id": "sess-g", "stage": "DECOMPOSED", "ts": "2026-11-30T17:28:02Z"}\n{"run_id": "sess-g", "stage": "SCHEDULE", "ts": "2026-11-30T17:28:02Z", "wave": 1}\n',
  );
  return folder;
}

/** A resume begins anew each time: what it adopted is taken away. */
function resumeOf(bench: Bench, folder: string): () => number {
  return () => {
    rmSync(join(folder, ".atlas", "sess-g", "adopted"), { recursive: true, force: true });
    return timed(bench, "sh", [bench.launcher, "resume"], folder);
  };
}
