import { join } from "node:path";
import { refuse } from "../core/result.ts";
import { changeOf } from "../engine/change-run.ts";
import type { Engine } from "../engine/context.ts";
import { maskedValue } from "../engine/masked.ts";
import { type Report, reportOf } from "../engine/report.ts";
import { differences, REPORT_BYTES_MAX } from "../engine/report-check.ts";
import { markdown, markdownWithoutForeign } from "../engine/report-markdown.ts";
import { readBounded, replaceFile } from "../platform/files.ts";
import type { Arguments } from "./arguments.ts";
import { loadNamed } from "./load.ts";
import { done, type Outcome, refused, refusedBy } from "./outcome.ts";

/**
 * What was asked, done, judged, resumed and not redone; also written as `report.json` and `report.md` in the run's
 * folder. With `--check` the written one is recomputed from the ledger and the artifacts, and must be equal.
 */
export function report(engine: Engine, given: Arguments): Outcome {
  const read = loadNamed(engine, given);
  if (!read.ok) return refused(read.error);
  const run = changeOf(read.value);
  if (!run.ok) return refused(run.error);
  const made = maskedValue(reportOf(engine, run.value), engine.environment, run.value.folder.ledger);
  const path = join(run.value.folder.ledger, "report.json");
  if (given.flag("check")) return check(engine, run.value.folder.ledger, made);
  replaceFile(engine.fs, path, `${JSON.stringify(made, null, 2)}\n`, false);
  replaceFile(engine.fs, join(run.value.folder.ledger, "report.md"), `${markdown(made)}\n`, false);
  return done({ ...made }, markdownWithoutForeign(made));
}

function check(engine: Engine, folder: string, made: Report): Outcome {
  const again = `atlas report --run ${made.run}`;
  const read = readBounded(engine.fs, join(folder, "report.json"), REPORT_BYTES_MAX);
  if (read.kind === "absent")
    return refusedBy(refuse("report.absent", "no report was written for this run yet", again));
  const prose = readBounded(engine.fs, join(folder, "report.md"), REPORT_BYTES_MAX);
  const isSameProse = prose.kind === "file" && prose.bytes.equals(Buffer.from(`${markdown(made)}\n`, "utf8"));
  const fields = [
    ...(read.kind === "file" ? differences(read.bytes, made) : ["unreadable"]),
    ...(isSameProse ? [] : ["report.md"]),
  ];
  if (fields.length > 0) {
    return refusedBy(refuse("report.mismatch", `the written report differs in: ${fields.join(", ")}`, again));
  }
  return done({ run: made.run, equal: true }, `the report of run ${made.run} is what its ledger says`);
}
