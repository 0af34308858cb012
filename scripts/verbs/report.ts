import { join } from "node:path";
import { refuse } from "../core/result.ts";
import { changeOf } from "../engine/change-run.ts";
import type { Engine } from "../engine/context.ts";
import { differences, type Report, reportOf } from "../engine/report.ts";
import { readBounded, replaceFile } from "../platform/files.ts";
import type { Arguments } from "./arguments.ts";
import { loadNamed } from "./load.ts";
import { done, type Outcome, refused, refusedBy } from "./outcome.ts";

const reportBytesMax = 16 * 1024 * 1024;

/**
 * What was asked, done, judged, resumed and not redone; also written as `report.json` and `report.md` in the run's
 * folder. With `--check` the written one is recomputed from the ledger and the artifacts, and must be equal.
 */
export function report(engine: Engine, given: Arguments): Outcome {
  const read = loadNamed(engine, given);
  if (!read.ok) return refused(read.error);
  const run = changeOf(read.value);
  if (!run.ok) return refused(run.error);
  const made = reportOf(engine, run.value);
  const path = join(run.value.folder.ledger, "report.json");
  if (given.flag("check")) return check(engine, path, made);
  replaceFile(engine.fs, path, `${JSON.stringify(made, null, 2)}\n`, false);
  replaceFile(engine.fs, join(run.value.folder.ledger, "report.md"), `${markdown(made)}\n`, false);
  return done({ ...made }, markdown(made));
}

function check(engine: Engine, path: string, made: Report): Outcome {
  const again = `atlas report --run ${made.run}`;
  const read = readBounded(engine.fs, path, reportBytesMax);
  if (read.kind !== "file") return refusedBy(refuse("report.absent", "no report was written for this run yet", again));
  const fields = differences(read.bytes.toString("utf8"), made);
  if (fields.length > 0) {
    return refusedBy(refuse("report.mismatch", `the written report differs in: ${fields.join(", ")}`, again));
  }
  return done({ run: made.run, equal: true }, `the report of run ${made.run} is what its ledger says`);
}

function markdown(made: Report): string {
  return [
    `# Run ${made.run}: ${made.label ?? "no label yet"}`,
    ...made.reasons.map((reason) => `- why: ${reason}`),
    "",
    ...made.stages.map((stage) => `- ${stage.stage}: line ${stage.seq}`),
    ...made.gates.map((gate) => `- gate ${gate.gate}: ${gate.choice} (${gate.grade})`),
    ...made.commands.map(
      (command) =>
        `- command of pass ${command.pass}: ${command.ending}${command.code === null ? "" : ` ${command.code}`}`,
    ),
    ...made.dispatches.map((dispatch) => `- lease ${dispatch.lease} (${dispatch.role}): ${dispatch.end}`),
    ...made.resumed.map((claim) => `- epoch ${claim.epoch}: ${claim.why}, at line ${claim.seq}`),
  ].join("\n");
}
