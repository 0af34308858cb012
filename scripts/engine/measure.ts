/**
 * What one command of a pass left, as an artifact: its ending, its tests, the tree before and after it. Read from files
 * the command can have written, so everything is bounded and nothing is believed for its name.
 */
import { join } from "node:path";
import { EnvironmentFailure } from "../core/result.ts";
import type { EffectOutcome } from "../kinds/change/decide.ts";
import { type ChangeState, filledKey, measureSlot } from "../kinds/change/state.ts";
import type { Pass } from "../parts/passes.ts";
import { changesBetween } from "../platform/changes.ts";
import { readBounded } from "../platform/files.ts";
import type { CommandResult } from "../platform/performer-result.ts";
import { writtenSince } from "../platform/written-since.ts";
import type { CommandRole } from "../verify/command-role.ts";
import type { CommandEvidence, Measure, TestsEvidence } from "../verify/evidence.ts";
import { noTests } from "../verify/evidence.ts";
import type { FoundReport } from "../verify/found-report.ts";
import { reportRequest } from "../verify/report-request.ts";
import { furtherRuns, type Measured, type TestsOfChange } from "../verify/revert-red.ts";
import type { TestResult } from "../verify/test-run.ts";
import { readArtifact, writeArtifact } from "./artifacts.ts";
import { testMatcher } from "./changed-files.ts";
import { codedTree, commandFiles, definedOnly, resolvedIn, treeOfRole } from "./command-order.ts";
import type { Engine } from "./context.ts";
import { snapshotsOf, workRoot } from "./effects.ts";
import { globMatcher } from "./globs.ts";
import type { Loaded } from "./ledger.ts";
import { readPacket } from "./packets.ts";
import { readTests } from "./readers.ts";
import { dropScratch, scratchPath } from "./scratch.ts";

const reportBytesMax = 32 * 1024 * 1024;
const outputBytesMax = 2 * 1024 * 1024;
/** The single results of a run; beyond it only the counts are kept. */
const resultsBytesMax = 8 * 1024 * 1024;

export interface CommandAttempt {
  readonly of: CommandRole;
  readonly stem: string;
  readonly attempt: number;
}

/** `result` null: the performer was lost as often as it may be. */
export function recordMeasure(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  attempt: CommandAttempt,
  result: CommandResult | null,
): EffectOutcome {
  const { state, folder } = loaded;
  const { of, stem } = attempt;
  const { phase } = state;
  const packet = readPacket(engine, loaded);
  if (phase.at !== "verify" || packet === null) {
    throw new EnvironmentFailure("ledger.malformed", "a command ended that nobody waits for", "atlas doctor");
  }
  const inScratch = of === "revert" || of === "baseline";
  const cwd = inScratch ? scratchPath(folder, stem) : workRoot(loaded, phase.tree);
  const text = of === "setup" ? (packet.setup_cmd ?? "") : packet.verify_cmd;
  const command = commandEvidence(result, text, cwd);
  const read = of === "setup" ? { tests: noTests, results: [] } : testsOf(engine, loaded, attempt, cwd, result);
  const before = treeOfRole(engine, loaded, of, packet);
  const after = inScratch ? before : snapshotsOf(engine, loaded).take(cwd).tree;
  const { results, tests } = keptResults(engine, loaded, attempt, phase.pass, read);
  const measure: Measure = {
    v: 1,
    pass: phase.pass,
    attempt: attempt.attempt,
    command,
    tests,
    tree: { before: before ?? after ?? "", after: after ?? "" },
    leftovers: result === null ? "none" : result.leftovers,
  };
  const bytes = Buffer.from(`${JSON.stringify(measure, null, 2)}\n`, "utf8");
  const name = { slot: measureSlot(of), pass: phase.pass, extension: "json" };
  const hash = writeArtifact(engine.fs, folder, name, bytes);
  if (inScratch) dropScratch(engine, folder);
  const more = furtherRuns(of, { measure, results }, testsOfChange(engine, loaded, packet)).filter(
    () => state.base !== null,
  );
  return { of: "run-command", sha256: hash, ending: command.ending, more };
}

/** The record of a command of the pass with its single results; null: it was not run. Throws `artifact.changed`. */
export function readMeasured(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  of: CommandRole,
  pass: Pass,
): Measured | null {
  const filled = loaded.state.filled[filledKey(measureSlot(of), pass)];
  if (filled === undefined) return null;
  const read = (slot: string, hash: string) =>
    JSON.parse(
      readArtifact(engine.fs, loaded.folder, { slot, pass, extension: "json" }, hash).toString("utf8"),
    ) as unknown;
  const measure = read(measureSlot(of), filled.sha256) as Measure;
  const { results } = measure.tests;
  return { measure, results: results === "" ? [] : (read(`tests-${of}`, results) as readonly TestResult[]) };
}

export function testsOfChange(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  packet: Parameters<typeof testMatcher>[0],
): TestsOfChange {
  const { base } = loaded.state;
  const coded = codedTree(loaded.state);
  if (base === null || coded === null) return { tests: 0, sources: 0 };
  const isTest = testMatcher(packet);
  const changes = changesBetween(snapshotsOf(engine, loaded), base, coded);
  const tests = changes.filter(({ path, status }) => status !== "D" && isTest(path)).length;
  return { tests, sources: changes.filter(({ path }) => !isTest(path)).length };
}

function testsOf(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  { stem }: CommandAttempt,
  cwd: string,
  result: CommandResult | null,
): { readonly tests: Omit<TestsEvidence, "results">; readonly results: readonly TestResult[] } {
  const { phase } = loaded.state;
  const packet = readPacket(engine, loaded);
  if (result === null || phase.at !== "verify" || packet === null) return { tests: noTests, results: [] };
  const files = commandFiles(loaded.folder, phase.pass, stem);
  const resolved = resolvedIn(engine, { cwd, frozen: packet.verify_cmd });
  const request = reportRequest(resolved, definedOnly(engine.environment), files.reports);
  const reports: FoundReport[] = request.expected.flatMap(({ runner, format, name }) => {
    const read = readBounded(engine.fs, join(files.reports, name), reportBytesMax);
    return read.kind === "absent" ? [] : [{ runner, format, text: textOf(read) }];
  });
  for (const { runner, format, glob } of request.written) {
    for (const path of writtenSince(engine.fs, cwd, globMatcher(glob), files.begun)) {
      reports.push({ runner, format, text: textOf(readBounded(engine.fs, path, reportBytesMax)) });
    }
  }
  const size = result.log.bytes;
  const log = readBounded(engine.fs, files.log, outputBytesMax, Math.max(0, size - outputBytesMax));
  return readTests({
    resolved,
    request,
    reports,
    root: cwd,
    output: log.kind === "file" ? log.bytes.toString("utf8") : "",
    exitCode: result.ending === "exited" ? result.code : null,
  });
}

function textOf(read: ReturnType<typeof readBounded>): string | null {
  return read.kind === "file" ? read.bytes.toString("utf8") : null;
}

function keptResults(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  { of }: CommandAttempt,
  pass: Pass,
  read: { readonly tests: Omit<TestsEvidence, "results">; readonly results: readonly TestResult[] },
): { readonly tests: TestsEvidence; readonly results: readonly TestResult[] } {
  const { tests, results } = read;
  const bytes = Buffer.from(`${JSON.stringify(results)}\n`, "utf8");
  if (results.length === 0 || bytes.length > resultsBytesMax) {
    return { tests: { ...tests, perTest: false, results: "" }, results: [] };
  }
  const hash = writeArtifact(engine.fs, loaded.folder, { slot: `tests-${of}`, pass, extension: "json" }, bytes);
  return { tests: { ...tests, results: hash }, results };
}

export function commandEvidence(result: CommandResult | null, text: string, cwd: string): CommandEvidence {
  const nothing = { text, cwd, ms: 0, peakBytes: 0, log: { sha256: "", bytes: 0, tail: "" } };
  if (result === null) return { ...nothing, ending: "lost" };
  return {
    text,
    cwd,
    ending: result.ending,
    ...(result.ending === "exited" ? { code: result.code } : {}),
    ...(result.ending === "signalled" ? { signal: result.signal } : {}),
    ms: result.ms,
    peakBytes: result.peakBytes ?? 0,
    log: result.log,
  };
}
