/** What the artifacts tell a report. One that is no longer what the ledger names tells nothing, and says so. */
import { EnvironmentFailure } from "../core/result.ts";
import { type ChangeState, filledKey, measureSlot } from "../kinds/change/state.ts";
import type { Pass } from "../parts/passes.ts";
import type { CommandRole } from "../verify/command-role.ts";
import type { CommandEvidence, Evidence, LensEvidence, Measure, TestsEvidence } from "../verify/evidence.ts";
import { readArtifact } from "./artifacts.ts";
import type { Engine } from "./context.ts";
import { readEvidence } from "./judge.ts";
import type { Loaded } from "./ledger.ts";
import type { MeasuredCommand } from "./report-lines.ts";

export interface ReportedCommand {
  readonly pass: number;
  readonly role: CommandRole;
  readonly text: string | null;
  readonly ending: string;
  readonly code: number | null;
  readonly signal: string | null;
  /** Wall time; `--check` leaves it out. */
  readonly ms: number | null;
  /** sha-256 of its output; null where it cannot be told any more. */
  readonly log: string | null;
  readonly tests: Pick<TestsEvidence, "source" | "runners" | "passed" | "failed" | "skipped" | "faults"> | null;
  /** sha-256 of what it left. */
  readonly record: string;
}

export type ReportedLens = Pick<LensEvidence, "status" | "reason" | "ms" | "defects">;

export function reportedCommands(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  measured: readonly MeasuredCommand[],
): readonly ReportedCommand[] {
  const known = measured.map(({ pass, role, ending, record }) => {
    const name = { slot: measureSlot(role), pass, extension: "json" };
    const measure = readOrNull(
      () => JSON.parse(readArtifact(engine.fs, loaded.folder, name, record).toString("utf8")) as Measure,
    );
    return command({ pass, role, ending, record }, measure?.command ?? null, measure?.tests ?? null);
  });
  // Ledgers of the first release name the evidence only.
  const passes = ([0, 1, 2] as const).filter((pass) => !measured.some((one) => one.pass === pass));
  const older = passes.flatMap((pass) => {
    const filled = loaded.state.filled[filledKey("evidence", pass)];
    const evidence = filled === undefined ? null : reportedEvidence(engine, loaded, pass);
    if (filled === undefined || evidence === null || evidence.command.ending === "unstarted") return [];
    const { ending } = evidence.command;
    return [command({ pass, role: "verify", ending, record: filled.sha256 }, evidence.command, evidence.tests)];
  });
  return [...known, ...older];
}

/** Null: there is none, or it is no longer the one the ledger names. */
export function reportedEvidence(engine: Engine, loaded: Loaded<ChangeState>, pass: Pass): Evidence | null {
  return readOrNull(() => readEvidence(engine, loaded, pass));
}

export function reportedLenses(evidence: Evidence | null): Readonly<Record<string, ReportedLens>> {
  return Object.fromEntries(
    Object.entries(evidence?.lenses ?? {}).map(([name, { status, reason, ms, defects }]) => [
      name,
      { status, ...(reason === undefined ? {} : { reason }), ms, defects },
    ]),
  );
}

export function readOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    if (error instanceof EnvironmentFailure && error.code === "artifact.changed") return null;
    throw error;
  }
}

function command(
  { pass, role, ending, record }: MeasuredCommand,
  evidence: CommandEvidence | null,
  tests: TestsEvidence | null,
): ReportedCommand {
  return {
    pass,
    role,
    text: evidence?.text ?? null,
    ending,
    code: evidence?.code ?? null,
    signal: evidence?.signal ?? null,
    ms: evidence?.ms ?? null,
    log: evidence?.log.sha256 ?? null,
    tests: role === "setup" || tests === null ? null : counts(tests),
    record,
  };
}

function counts({ source, runners, passed, failed, skipped, faults }: TestsEvidence): ReportedCommand["tests"] {
  return { source, runners, passed, failed, skipped, faults: faults ?? [] };
}
