import { spawnSync } from "node:child_process";
import { freemem, totalmem } from "node:os";
import type { Room } from "../parts/admission.ts";

/** Free memory in MB; `ATLAS_FREE_MB` replaces the reading where a test needs the same answer everywhere. */
export function freeMegabytes(environment: Readonly<Record<string, string | undefined>>): number {
  const given = environment.ATLAS_FREE_MB;
  if (given !== undefined && /^\d{1,9}$/.test(given)) return Number(given);
  const available = (process as { availableMemory?: () => number }).availableMemory;
  const bytes = onMac() ?? (available === undefined ? freemem() : available.call(process));
  return Math.floor(bytes / (1024 * 1024));
}

/** What macOS calls free is what it has not found a use for yet: what it would give back counts too. */
function onMac(): number | null {
  if (process.platform !== "darwin") return null;
  return parseVmStat(spawnSync("/usr/bin/vm_stat", [], { encoding: "utf8", timeout: 2000 }).stdout ?? "");
}

/** Bytes that `vm_stat` counts as free, inactive or speculative; null for a text of another form. */
export function parseVmStat(text: string): number | null {
  const page = /page size of (\d+) bytes/.exec(text)?.[1];
  const pages = ["free", "inactive", "speculative"].map(
    (name) => new RegExp(`^Pages ${name}:\\s+(\\d+)\\.`, "m").exec(text)?.[1],
  );
  if (page === undefined || pages.some((count) => count === undefined)) return null;
  return Number(page) * pages.reduce((sum, count) => sum + Number(count), 0);
}

/** What agents may be given now. A container's limit is the machine, where there is one. */
export function roomOf(environment: Readonly<Record<string, string | undefined>>): Room {
  const limit = (process as { constrainedMemory?: () => number }).constrainedMemory?.call(process) ?? 0;
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return { freeMb: freeMegabytes(environment), totalMb: Math.floor(bytes / (1024 * 1024)) };
}

/** Default memory limit of a build. */
export function halfTheMachine(): number {
  return Math.floor(totalmem() / 2);
}
