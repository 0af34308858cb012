/**
 * npm run conform: runs the six suites and prints property × cell × kind of run, then where the same stands as JSON.
 * ATLAS_ROUNDS says how much is tried where more can be (default 5), ATLAS_SEED repeats. Exit 1 where a cell fails.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { repositoryRoot } from "../support/run-cli.ts";
import { cells, type Kind, kinds } from "./cells.ts";

interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly status: string;
      readonly duration?: number;
      readonly failureMessages: readonly string[];
      readonly meta: {
        readonly conformance?: { readonly property: string; readonly cell: string; readonly kind: Kind };
      };
    }[];
  }[];
}

interface Row {
  readonly property: string;
  readonly cell: string;
  readonly kind: Kind;
  /** `missing`: no test of it ran. */
  readonly holds: "yes" | "no" | "missing";
  readonly ms: number;
  readonly why: string | null;
}

const { values } = parseArgs({ options: { json: { type: "boolean", default: false }, out: { type: "string" } } });

function main(): number {
  const folder = mkdtempSync(join(tmpdir(), "atlas-conform-"));
  const report = join(folder, "report.json");
  const rounds = process.env.ATLAS_ROUNDS ?? "5";
  const vitest = join(repositoryRoot, "node_modules", ".bin", "vitest");
  const words = ["run", "test/conformance", "--reporter=json", `--outputFile=${report}`];
  const env = { ...process.env, CONFORM_ROUNDS: rounds };
  const done = spawnSync(vitest, words, { cwd: repositoryRoot, env, stdio: ["ignore", "ignore", "inherit"] });
  if (!existsSync(report)) throw new Error(`the suites gave no report (exit ${done.status})`);
  const rows = rowsOf(JSON.parse(readFileSync(report, "utf8")) as Report);
  const json = JSON.stringify({ rounds: Number(rounds), rows }, null, 2);
  const path = values.out ?? join(folder, "conformance.json");
  writeFileSync(path, `${json}\n`);
  console.log(values.json ? json : `${tableOf(rows)}\n\n${path}`);
  const isWhole = rows.every((row) => row.holds === "yes");
  return isWhole && done.status === 0 ? 0 : 1;
}

function rowsOf(report: Report): readonly Row[] {
  const ran = report.testResults.flatMap((file) => file.assertionResults);
  return cells.flatMap(({ property, cell, kinds: of }) =>
    of.map((kind): Row => {
      const test = ran.find(
        ({ meta: { conformance: about } }) =>
          about?.property === property && about.cell === cell && about.kind === kind,
      );
      const holds = test === undefined ? "missing" : test.status === "passed" ? "yes" : "no";
      const why = test?.failureMessages[0]?.split("\n")[0]?.slice(0, 300) ?? null;
      return { property, cell, kind, holds, ms: Math.round(test?.duration ?? 0), why };
    }),
  );
}

function tableOf(rows: readonly Row[]): string {
  const lines = cells.map(({ property, cell }) => {
    const of = kinds.map(
      (kind) => rows.find((row) => row.property === property && row.cell === cell && row.kind === kind)?.holds ?? "–",
    );
    return [property, cell, ...of];
  });
  const table = [["property", "cell", ...kinds], ...lines];
  const widths = table[0]?.map((_name, at) => Math.max(...table.map((line) => (line[at] ?? "").length))) ?? [];
  const printed = table.map((line) =>
    line
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const faults = rows
    .filter((row) => row.holds !== "yes")
    .map((row) => `${row.holds}: ${row.property}, ${row.cell} (${row.kind}): ${row.why}`);
  return [...printed, "", `${rows.filter((row) => row.holds === "yes").length} of ${rows.length} hold`, ...faults].join(
    "\n",
  );
}

process.exitCode = main();
