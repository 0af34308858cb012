import { refuse } from "../core/result.ts";
import type { Engine } from "../engine/context.ts";
import { findRuns } from "../engine/runs.ts";
import { selectRun } from "../engine/select.ts";
import type { Arguments } from "./arguments.ts";
import { done, type Outcome, refused, refusedBy } from "./outcome.ts";

/** Names of a foreign plan are data: only their form goes into a picture. */
const nodeShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** The DAG of a graph run as a table and as Mermaid: states, attempts, gas. */
export function graph(engine: Engine, given: Arguments): Outcome {
  const run = given.text("run");
  const chosen = selectRun(engine, findRuns(engine, run === null ? "unfinished" : { only: run }), {
    run,
    newest: false,
  });
  if (!chosen.ok) return refused(chosen.error);
  const shown = chosen.value?.view.graph;
  if (chosen.value === null || shown === undefined) {
    return refusedBy(refuse("run.no_graph", "there is no graph run here", "atlas status --all"));
  }
  const { dag, gas } = shown;
  const names = Object.keys(dag.nodes);
  const safe = (name: string): string => (nodeShape.test(name) ? name : `node-${names.indexOf(name)}`);
  const rows = dag.jobs.map((job) => {
    const node = job.job_id.replace(/#\d+$/, "");
    const deps = dag.nodes[node]?.deps ?? [];
    return { node: safe(node), state: job.state ?? "PENDING", attempts: job.attempts ?? 0, deps: deps.map(safe) };
  });
  const mermaid = [
    "graph TD",
    ...rows.map((row) => `  ${row.node}["${row.node} ${row.state} ${row.attempts}/2"]`),
    ...rows.flatMap((row) => row.deps.map((dep) => `  ${dep} --> ${row.node}`)),
  ].join("\n");
  const table = rows.map(
    (row) => `${row.node}  ${row.state}  attempts=${row.attempts}/2  after=${row.deps.join(",") || "-"}`,
  );
  const text = [`gas=${gas} terminated=${shown.terminated}`, ...table, "", mermaid].join("\n");
  return done({ run: chosen.value.view.id, gas, terminated: shown.terminated, nodes: rows, mermaid }, text);
}
