import type { CriticName } from "../../verify/critic.ts";
import type { Defect } from "../../verify/defect.ts";
import { type Evidence, endingSentence } from "../../verify/evidence.ts";

/** What only the caller knows: files the build or the coder wrote that git ignores. */
export interface CriticExtras {
  readonly ignoredWritten: readonly string[];
}

/**
 * The slice of the evidence one critic may see, as text for its fence: correctness the command's ending, the tests,
 * revert-red and criteria overlap; code-quality debug tokens and advisory lint; security the scanner and ignored files
 * written. What did not run is said, never left out.
 */
export function criticEvidence(name: CriticName, evidence: Evidence, extras: CriticExtras): string {
  switch (name) {
    case "correctness":
      return [
        commandText(evidence),
        testsText(evidence),
        revertRedText(evidence),
        lensText(evidence, "criteria-overlap"),
        `last output of the command:\n${evidence.command.log.tail}`,
      ].join("\n");
    case "code-quality":
      return [lensText(evidence, "debug-tokens"), lensText(evidence, "advisory-lint")].join("\n");
    case "security":
      return [lensText(evidence, "sast"), ignoredText(extras.ignoredWritten)].join("\n");
  }
}

function commandText({ command }: Evidence): string {
  return `verify command ${JSON.stringify(command.text)}: ${endingSentence(command)}, after ${command.ms} ms`;
}

function testsText({ tests }: Evidence): string {
  if (tests.source === "none") return "tests: not counted; the command's ending is all there is";
  return `tests (from ${tests.source}): ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped`;
}

function revertRedText({ revertRed }: Evidence): string {
  return `revert-red: ${revertRed.status}${revertRed.reason === undefined ? "" : ` (${revertRed.reason})`}`;
}

function lensText({ lenses }: Evidence, name: string): string {
  const lens = lenses[name];
  if (lens === undefined) return `${name}: did not run: not built yet`;
  if (lens.status !== "ran") return `${name}: did not run: ${lens.reason ?? lens.status}`;
  if (lens.defects.length === 0) return `${name}: ran, found nothing`;
  return [`${name}:`, ...lens.defects.map(defectText)].join("\n");
}

/** One line of JSON: text from outside cannot look like a second defect. */
export function defectText({ id, category, severity, location, fix }: Defect): string {
  return JSON.stringify({ id, category, severity, location, fix });
}

function ignoredText(paths: readonly string[]): string {
  if (paths.length === 0) return "ignored files written: none";
  const shown = paths.slice(0, 100).map((path) => JSON.stringify(path));
  const more = paths.length > shown.length ? [`and ${paths.length - shown.length} more`] : [];
  return ["ignored files written:", ...shown, ...more].join("\n");
}
