/** What every bundle of verbs does alike: one build, one engine, one answer, and what is said of a failure. */
import { mkdtempSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EnvironmentFailure, UsageError } from "../core/result.ts";
import { failure, isDiskError } from "../platform/files.ts";
import type { Arguments } from "./arguments.ts";
import { openEngine } from "./engine.ts";
import type { Outcome } from "./outcome.ts";
import { runnable } from "./runnable.ts";

declare const ATLAS_BUILD: string;

export type Verb = (engine: ReturnType<typeof openEngine>, given: Arguments) => Promise<Outcome> | Outcome;

/** Runs `act` unless the entry is of another build; gives the exit code, also of what was thrown. */
export async function guarded(
  argv: readonly string[],
  entry: { readonly build: string },
  act: () => Promise<number>,
): Promise<number> {
  try {
    if (entry.build !== ATLAS_BUILD) {
      throw new EnvironmentFailure("install.mixed", "dist/ holds parts of two builds", "reinstall the atlas plugin");
    }
    return await act();
  } catch (error) {
    return failed(error, argv.includes("--json"));
  }
}

/** Runs one verb of the table and prints its outcome. */
export async function runVerb(given: Arguments, verbs: Readonly<Record<string, Verb>>, json: boolean): Promise<number> {
  const engine = openEngine(given);
  const outcome = await (verbs[given.verb] as Verb)(engine, given);
  put(1, json ? `${JSON.stringify(outcome.json)}\n` : `${runnable(engine, outcome.text)}\n`);
  return outcome.exit;
}

function failed(thrown: unknown, json: boolean): number {
  // A call of node's own that no door of ours took: still the disk's failure and no bug of ours.
  const error = isDiskError(thrown) ? failure(thrown, thrown.path ?? "unknown path") : thrown;
  if (error instanceof UsageError || error instanceof EnvironmentFailure) {
    const exit = error instanceof UsageError ? 2 : 4;
    const { code, message: reason, fix } = error;
    if (json) put(1, `${JSON.stringify({ error: { code, reason, fix } })}\n`);
    put(2, `atlas: ${code}: ${reason}\nfix: ${fix}\n`);
    return exit;
  }
  const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "unknown") : String(error);
  const trace = keepTrace(error);
  const fix = trace === null ? "atlas doctor" : `report it with ${trace}`;
  if (json) put(1, `${JSON.stringify({ error: { code: "atlas.bug", reason, fix } })}\n`);
  put(2, `atlas: a bug: ${reason}; trace: ${trace ?? "could not be written"}\n`);
  return 1;
}

function keepTrace(error: unknown): string | null {
  try {
    const path = join(mkdtempSync(join(tmpdir(), "atlas-trace-")), "trace.txt");
    writeFileSync(path, error instanceof Error ? (error.stack ?? error.message) : String(error));
    return path;
  } catch {
    return null;
  }
}

/** Synchronous: the process may end right after. */
export function put(fd: number, text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EAGAIN") return;
    }
  }
}
