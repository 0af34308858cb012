/** A worker's share: one command under one resumer and one weapon, at every `step`-th point. */
import { mkdirSync } from "node:fs";
import type { Plugin } from "../support/scripted-run.ts";
import { nameOf, type Weapon } from "./point.ts";
import { rowsOf } from "./points.ts";
import { scenarios } from "./scenarios.ts";
import { openSite, type Resumer, type Site } from "./site.ts";

export interface Job {
  readonly scenario: string;
  readonly resumer: Resumer;
  readonly weapon: Weapon;
  /** 1: every point. */
  readonly step: number;
  /** The first point of each row, 1 to `step`. */
  readonly first: number;
}

export interface Share {
  readonly tried: number;
  readonly known: number;
  readonly faults: readonly string[];
}

/** `base`: this worker's own folder. */
export async function doJob(plugin: Plugin, base: string, job: Job): Promise<Share> {
  mkdirSync(base, { recursive: true });
  const scenario = scenarios.find((one) => one.name === job.scenario);
  if (scenario === undefined) throw new Error(`no command ${job.scenario}`);
  let site: Site;
  try {
    site = await openSite(plugin, base, scenario, job.resumer);
  } catch (error) {
    return {
      tried: 0,
      known: 0,
      faults: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    };
  }
  let tried = 0;
  let known = 0;
  const faults: string[] = [];
  for (const row of rowsOf(site, job.weapon)) {
    for (let place = Math.min(job.first, Math.max(1, row.length)); ; place += job.step) {
      const point = row.at(place);
      const done = await site.try(point);
      if (!done.killed) break;
      tried += 1;
      if (done.known) known += 1;
      faults.push(...done.faults.map((fault) => `${nameOf(point)}: ${fault}`));
      // What has no end is a fault of its own.
      if (place > 20 * row.length + 200) faults.push(`${row.name} does not come to an end`);
      if (faults.length > faultsMax || place > 20 * row.length + 200) break;
    }
  }
  return { tried, known, faults };
}

/** More say nothing new. */
const faultsMax = 25;
