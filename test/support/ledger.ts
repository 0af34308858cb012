/** Small real ledgers, sealed as the engine seals them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { HeadEvent } from "../../scripts/core/head.ts";
import { LINE_VERSION, NO_SUM, sealLine } from "../../scripts/core/line.ts";
import type { Owner } from "../../scripts/core/owner.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { identityOf, systemProcesses } from "../../scripts/platform/processes.ts";

export interface LineSpec {
  readonly stage?: string;
  readonly events: readonly ({ readonly type: string } & Record<string, unknown>)[];
  readonly ts?: string;
  readonly v?: number;
}

/** The bytes of a log whose lines hold `specs`, chained from the first. */
export function sealedLog(runId: string, specs: readonly LineSpec[]): string {
  let prev = NO_SUM;
  return specs
    .map((spec, at) => {
      const line = sealLine(
        {
          v: spec.v ?? LINE_VERSION,
          seq: at + 1,
          prev,
          ts: spec.ts ?? `2026-11-30T19:00:${String(at % 60).padStart(2, "0")}.000Z`,
          run_id: runId,
          ...(spec.stage === undefined ? {} : { stage: spec.stage }),
          by: { verb: "test", pid: 1, session: null, epoch: 1 },
          events: spec.events,
        },
        sha256,
      );
      prev = line.sum;
      return `\n${line.text}\n`;
    })
    .join("");
}

export interface OwnRun {
  readonly id?: string;
  readonly kind?: string;
  /** Completed stages, in order. */
  readonly stages?: readonly string[];
  /** null: nobody claimed it. Default: a process that is gone. */
  readonly owner?: Owner | null;
  readonly released?: boolean;
  readonly ended?: boolean;
  /** Time of the last line. */
  readonly ts?: string;
  /** Written as the adoption of a foreign run. */
  readonly adopted?: boolean;
}

export const RUN = "20261130t190000z-1a2b3c";

export function bornEvent(
  kind: string,
  origin: "atlas" | "kimi-atlas" = "atlas",
  root = "/",
): LineSpec["events"][number] {
  return { type: "born", kind, origin, form: "interactive", digest: "d", root, top: null, commonDir: null };
}

export function claimedEvent(owner: Owner, epoch = 1): HeadEvent & Record<string, unknown> {
  return { type: "claimed", epoch, version: 1, owner, why: "born", carried: [], exclusive: false };
}

/** Writes a run below `atlas` and gives its folder and the folder of our files. */
export function writeOwnRun(atlas: string, run: OwnRun = {}): { folder: string; home: string; log: string } {
  const id = run.id ?? RUN;
  const owner = run.owner === undefined ? goneOwner() : run.owner;
  const specs: LineSpec[] = [
    { events: [bornEvent(run.kind ?? "change", run.adopted ? "kimi-atlas" : "atlas", dirname(atlas))] },
  ];
  if (owner !== null) specs.push({ events: [claimedEvent(owner)] });
  for (const stage of run.stages ?? []) specs.push({ stage, events: [{ type: "stage-completed", stage }] });
  if (run.released) specs.push({ events: [{ type: "released", epoch: 1, reason: "clear" }] });
  if (run.ended) specs.push({ events: [{ type: "ended" }] });
  const last = specs.length - 1;
  if (run.ts !== undefined) specs[last] = { ...(specs[last] as LineSpec), ts: run.ts };
  const folder = join(atlas, id);
  const home = run.adopted ? join(folder, "adopted") : folder;
  mkdirSync(home, { recursive: true });
  const log = join(home, "log.jsonl");
  writeFileSync(log, sealedLog(id, specs));
  return { folder, home, log };
}

/** The owner this machine would record for a process of `session`. */
export function ownerOf(pid: number, session: string | null, host = "claude"): Owner {
  const identity = identityOf(systemProcesses(), pid);
  if (identity === null) throw new Error(`no process ${pid}`);
  return { ...identity, host, session };
}

/** An owner on this machine and boot whose process is no more. */
export function goneOwner(session: string | null = "gone-session"): Owner {
  return { ...ownerOf(process.pid, session), pid: 2 ** 30, start: "1" };
}
