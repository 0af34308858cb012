import { freemem, totalmem } from "node:os";

/** Free memory in MB; `ATLAS_FREE_MB` replaces the reading where a test needs the same answer everywhere. */
export function freeMegabytes(environment: Readonly<Record<string, string | undefined>>): number {
  const given = environment.ATLAS_FREE_MB;
  if (given !== undefined && /^\d{1,9}$/.test(given)) return Number(given);
  const available = (process as { availableMemory?: () => number }).availableMemory;
  const bytes = available === undefined ? freemem() : available.call(process);
  return Math.floor(bytes / (1024 * 1024));
}

/** Default memory limit of a build. */
export function halfTheMachine(): number {
  return Math.floor(totalmem() / 2);
}
