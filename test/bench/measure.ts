/** What the rows of the bench share: the plugin built for this run, pairs side by side, medians. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildBundles } from "../../scripts/build/bundle.ts";
import { cliEnvironment, repositoryRoot } from "../support/run-cli.ts";
import { keptFolder } from "../support/temp.ts";

/** One row of the budgets: what is measured, and how much of the other side's it may take. */
export interface Row {
  readonly what: string;
  readonly budget: number;
  /** Why there is nothing to measure yet. */
  readonly missing?: string;
  /** Null: it cannot be measured, here or yet. */
  measure(bench: Bench): Measured | null;
}

/** Medians of both sides in one unit; the ratio that counts is of these. */
export interface Measured {
  readonly unit: "ms" | "MB" | "steps";
  readonly ours: number;
  readonly theirs: number;
}

export interface Bench {
  /** Launcher of a plugin that was built from the sources as they are now. */
  readonly launcher: string;
  readonly cli: string;
  readonly base: string;
  readonly env: NodeJS.ProcessEnv;
  /** Pairs of a row that is not dear. */
  readonly rounds: number;
  /** An empty folder of its own. */
  project(name: string): string;
  remove(): void;
}

/** Builds into a temporary folder: what is measured is what the sources say, whatever lies in dist/. */
export async function openBench(rounds: number): Promise<Bench> {
  const folder = keptFolder("atlas-bench-");
  const base = folder.path;
  const plugin = join(base, "plugin");
  await buildBundles(repositoryRoot, join(plugin, "dist"));
  for (const part of ["hooks", "bin"]) cpSync(join(repositoryRoot, part), join(plugin, part), { recursive: true });
  mkdirSync(join(base, "home"));
  return {
    launcher: join(plugin, "hooks", "run"),
    cli: join(plugin, "dist", "atlas.cjs"),
    base,
    env: cliEnvironment({ HOME: join(base, "home"), XDG_STATE_HOME: join(base, "state"), ATLAS_FREE_MB: "65536" }),
    rounds,
    project: (name) => {
      mkdirSync(join(base, name));
      return join(base, name);
    },
    remove: folder.remove,
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Milliseconds of a whole process; what did not end with 0 is no measurement. */
export function timed(
  bench: Bench,
  command: string,
  args: readonly string[],
  cwd: string = bench.base,
  input = "",
): number {
  const begun = performance.now();
  const done = spawnSync(command, args, { cwd, env: bench.env, input, maxBuffer: 1 << 28 });
  const ms = performance.now() - begun;
  if (done.status !== 0)
    throw new Error(`${command} ${args.join(" ")}: ${done.status} ${done.stderr.toString("utf8")}`);
  return ms;
}

/** `ours` and a node that does nothing, in turn, so that a noisy machine slows both. The first pair warms up. */
export function againstNode(bench: Bench, ours: () => number, rounds: number = bench.rounds): Measured {
  const [mine, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const nothing = timed(bench, process.execPath, ["-e", "0"]);
    const something = ours();
    if (round === 0) continue;
    bare.push(nothing);
    mine.push(something);
  }
  return { unit: "ms", ours: median(mine), theirs: median(bare) };
}
