/** The ledgers of a world as any reader would accept them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Line, ORIGIN, readChain } from "../../scripts/core/line.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import type { LoggedEvent } from "../support/scripted-run.ts";
import type { CrashWorld } from "./crash-world.ts";

export interface ReadRun {
  readonly id: string;
  readonly folder: string;
  readonly lines: readonly Line<LoggedEvent>[];
  readonly events: readonly LoggedEvent[];
}

/** Oldest first; folders that are no run yet are left out. */
export function readRuns(world: CrashWorld): readonly ReadRun[] {
  const atlas = join(world.project, ".atlas");
  return entries(atlas)
    .filter((name) => /^\d{8}t\d{6}z-/.test(name))
    .map((id) => {
      const folder = join(atlas, id);
      const { lines, end } = readChain<LoggedEvent>(readFileSync(join(folder, "log.jsonl")), sha256, ORIGIN);
      if (end.at !== "end") throw new Error(`the ledger of ${id} is ${end.at}`);
      return { id, folder, lines, events: lines.flatMap((line) => line.events) };
    })
    .sort((a, b) => birthOf(a).localeCompare(birthOf(b)));
}

function birthOf(run: ReadRun): string {
  return `${run.lines.some((line) => line.events.some((event) => event.type === "forked")) ? 1 : 0}${run.id}`;
}

/** Sums of accepted lines, by run: what must stand for ever once somebody was told. */
export type Accepted = ReadonlyMap<string, readonly string[]>;

export function acceptedOf(runs: readonly ReadRun[]): Accepted {
  return new Map(runs.map(({ id, lines }) => [id, lines.map((line) => line.sum)]));
}

/** What `before` held and `now` does not hold in the same place. */
export function lostLines(before: Accepted, now: Accepted): readonly string[] {
  return [...before].flatMap(([id, sums]) =>
    sums.every((sum, at) => now.get(id)?.[at] === sum) ? [] : [`an accepted line of ${id} is lost`],
  );
}

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
