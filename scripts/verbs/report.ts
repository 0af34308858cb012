import { changeOf } from "../engine/change-run.ts";
import type { Engine } from "../engine/context.ts";
import { reportOf } from "../engine/report.ts";
import type { Arguments } from "./arguments.ts";
import { loadNamed } from "./load.ts";
import { done, type Outcome, refused } from "./outcome.ts";

/** What was asked, done, judged, resumed and not redone. */
export function report(engine: Engine, given: Arguments): Outcome {
  const read = loadNamed(engine, given);
  if (!read.ok) return refused(read.error);
  const run = changeOf(read.value);
  if (!run.ok) return refused(run.error);
  const made = reportOf(engine, run.value);
  const text = [
    `# Run ${made.run}: ${made.label ?? "no label yet"}`,
    ...made.reasons.map((reason) => `- why: ${reason}`),
    "",
    ...made.stages.map((stage) => `- ${stage.stage}: line ${stage.seq}`),
    ...made.gates.map((gate) => `- gate ${gate.gate}: ${gate.choice} (${gate.grade})`),
    ...made.commands.map(
      (command) =>
        `- command of pass ${command.pass}: ${command.ending}${command.code === null ? "" : ` ${command.code}`}`,
    ),
    ...made.resumed.map((claim) => `- epoch ${claim.epoch}: ${claim.why}, at line ${claim.seq}`),
  ].join("\n");
  return done({ ...made }, text);
}
