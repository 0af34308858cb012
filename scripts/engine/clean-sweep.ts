/** What a cleaning collects: what went, what stayed and why. A dry run collects the same and changes nothing. */
import { EnvironmentFailure, type RefusalCode } from "../core/result.ts";
import { errno } from "../platform/files.ts";

export interface Left {
  /** An absolute path, or a ref. */
  readonly path: string;
  /** Fixed words or a code: no text from a file. */
  readonly why: string;
}

export interface Sweep {
  readonly dryRun: boolean;
  readonly removed: string[];
  readonly kept: Left[];
  /** Refs that are gone, or would be: nothing counts them as reaching a commit. */
  readonly gone: Set<string>;
}

export function newSweep(dryRun: boolean): Sweep {
  return { dryRun, removed: [], kept: [], gone: new Set() };
}

/** Removes one thing, or says that it would; what the environment refuses stays, with the reason. */
export function sweepAway(sweep: Sweep, path: string, remove: () => void): boolean {
  try {
    if (!sweep.dryRun) remove();
  } catch (error) {
    sweep.kept.push({ path, why: whyFailed(error) });
    return false;
  }
  sweep.removed.push(path);
  return true;
}

/** The code of a failure; what is no failure of the environment is a bug and is thrown on. */
export function whyFailed(error: unknown): RefusalCode {
  if (error instanceof EnvironmentFailure) return error.code;
  const code = errno(error);
  if (code === "UNKNOWN") throw error;
  return `disk.${code.toLowerCase()}`;
}
