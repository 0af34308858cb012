/**
 * `npm run bench`: the budgets, each measured against its other side in turn. A benchmark, not a timed test.
 * Prints a table; exit code 0 says that every row that was measured holds, 1 that one does not. A row of which there is
 * no figure is said to have none; it never passes for one that holds.
 *
 *   -- --only TEXT    rows whose name holds the text
 *   -- --json FILE    the rows as JSON into a file too (`-`: as the last line of stdout)
 *   -- --rounds N     pairs for each row, 31 when not told
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { appendRows } from "./append-rows.ts";
import { graphRows } from "./graph-rows.ts";
import { hookRows } from "./hook-rows.ts";
import { openBench, type Row } from "./measure.ts";
import { planRows } from "./plan-rows.ts";

interface Result {
  readonly what: string;
  readonly budget: number;
  readonly ratio: number;
  readonly holds: boolean;
  readonly unit: string;
  readonly ours: number;
  readonly theirs: number;
}

const { only, json, rounds } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    json: { type: "string" },
    rounds: { type: "string", default: "31" },
  },
}).values;
const rows: readonly Row[] = [...hookRows, ...graphRows, ...planRows, ...appendRows].filter((row) =>
  row.what.includes(only),
);
if (rows.length === 0) throw new Error(`no row's name holds "${only}"`);

const bench = await openBench(Number(rounds));
const results: Result[] = [];
const without: { readonly what: string; readonly budget: number; readonly missing: string }[] = [];
try {
  for (const row of rows) {
    const measured = row.measure(bench);
    if (measured === null) {
      const { what, budget, missing = "no way to measure it here" } = row;
      without.push({ what, budget, missing });
      console.log(`none   ${what}: ${missing}`);
      continue;
    }
    const { unit, ours, theirs } = measured;
    const ratio = ours / theirs;
    const result = { what: row.what, budget: row.budget, ratio, holds: ratio <= row.budget, unit, ours, theirs };
    results.push(result);
    console.log(line(result));
  }
} finally {
  bench.remove();
}
const rowsTold = [...results, ...without];
if (json === "-") console.log(JSON.stringify(rowsTold));
else if (json !== undefined) writeFileSync(json, `${JSON.stringify(rowsTold, null, 2)}\n`);
process.exitCode = results.every((result) => result.holds) ? 0 : 1;

function line({ what, budget, ratio, holds, unit, ours, theirs }: Result): string {
  const share = `${ratio.toFixed(2).padStart(6)} of ${budget.toFixed(2).padStart(5)}`;
  const both = `${ours.toFixed(1).padStart(8)} /${theirs.toFixed(1).padStart(7)} ${unit.padEnd(5)}`;
  return `${holds ? "holds" : "OVER "} ${share}  ${both}  ${what}`;
}
