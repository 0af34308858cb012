/**
 * A report for people. What came from the request, a tool, an agent or a tree stands in fenced blocks whose fence is
 * longer than any run of backticks inside; what is in a line of its own is reduced to letters that mean nothing.
 */
import { type Defect, isBlocking } from "../verify/defect.ts";
import type { Report } from "./report.ts";
import type { ReportedCommand } from "./report-measures.ts";

const defectsMax = 60;
const blockCharsMax = 16_000;

/** A line of ours, or foreign text that is shown in a block. */
type Part = string | { readonly foreign: string };

export function markdown(made: Report): string {
  return partsOf(made)
    .flatMap((part) => (typeof part === "string" ? [part] : block(part.foreign)))
    .join("\n");
}

/** The same for a prompt: foreign text enters one only inside the fence, so it is left out and said to be in the file. */
export function markdownWithoutForeign(made: Report): string {
  return partsOf(made)
    .map((part) => (typeof part === "string" ? part : "- (its text stands in report.md)"))
    .join("\n");
}

function partsOf(made: Report): readonly Part[] {
  return [
    `# Run ${word(made.run)}: ${word(made.label ?? "no label yet")}`,
    "",
    ...list(made.reasons.map((reason) => `why: ${word(reason)}`)),
    ...list(made.assumptions.map((field) => `assumed: ${word(field)}`)),
    ...(made.asked === null ? [] : section("Asked", [{ foreign: made.asked }])),
    ...section("Stages", list(made.stages.map((one) => `${word(one.stage)}: lines ${one.fromSeq} to ${one.toSeq}`))),
    ...section("Commands", made.commands.flatMap(commandLines)),
    ...section("Lenses", lensLines(made)),
    ...section("Defects", defectLines(made.defects)),
    ...section(
      "Gates",
      list(made.gates.map((gate) => `${word(gate.gate)}: ${word(gate.choice)} (${word(gate.grade)})`)),
    ),
    ...section(
      "Hand-outs",
      list(made.dispatches.map((one) => `${word(one.lease)} (${word(one.role)}): ${word(one.end)}`)),
    ),
    ...section("Resumed", list(made.resumed.map(resumedLine))),
    ...section("Kept", list(keptLines(made))),
  ];
}

function commandLines(command: ReportedCommand): readonly Part[] {
  const { tests } = command;
  const code = command.code === null ? "" : ` ${command.code}`;
  const counted =
    tests === null
      ? ""
      : `; tests from ${word(tests.source)}: ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped`;
  const faults = (tests?.faults ?? []).map(word).join(", ");
  const head = `- pass ${command.pass}, ${word(command.role)}: ${word(command.ending)}${code}${counted}`;
  return [
    faults === "" ? head : `${head}; not counted: ${faults}`,
    `- output ${word(command.log ?? "cannot be told any more")}, record ${word(command.record)}`,
    ...(command.text === null ? [] : [{ foreign: command.text }]),
  ];
}

function lensLines(made: Report): readonly string[] {
  const lenses = Object.entries(made.lenses).map(([name, { status, reason, defects }]) => {
    const why = reason === undefined ? "" : ` (${word(reason)})`;
    return `${word(name)}: ${word(status)}${why}, ${defects.length} defects`;
  });
  const { revertRed } = made;
  const revert = revertRed === null ? [] : [`changed tests without the change: ${word(revertRed.status)}`];
  return list([...lenses, ...revert]);
}

function defectLines(defects: Report["defects"]): readonly Part[] {
  if (defects === null) return [];
  const all = [...defects.blocking, ...defects.advisory];
  if (all.length === 0) return [];
  const more = all.length - defectsMax;
  const shown = all.slice(0, defectsMax).map(defectText);
  return [{ foreign: [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("\n") }];
}

function defectText(defect: Defect): string {
  const blocks = isBlocking(defect) ? "blocks" : "advice";
  return `${blocks}: ${defect.severity} ${defect.category} ${defect.id} at ${defect.location}\n  ${defect.fix}`;
}

function resumedLine({ epoch, from, seq, why, adopted, redone }: Report["resumed"][number]): string {
  const kept = adopted.length === 0 ? "nothing was done before" : `not done again: ${adopted.map(word).join(" ")}`;
  const again = redone.length === 0 ? "" : `; done again: ${redone.map(word).join(" ")}`;
  return `epoch ${epoch} (${word(why)}, line ${seq}) from ${word(from ?? "the beginning")}; ${kept}${again}`;
}

function keptLines(made: Report): readonly string[] {
  const { delivery, toolUse } = made;
  return [
    ...(made.tree === null ? [] : [`tree ${word(made.tree)}`]),
    ...(delivery === null
      ? []
      : [
          `${delivery.choice}: ${delivery.done ? "done" : "not finished"}, ${delivery.written} paths, ${delivery.left} left`,
        ]),
    `tool use seen: ${toolUse === "complete" ? "complete" : `partial (${toolUse.partial.map(word).join(", ")})`}`,
    `ledger line ${made.ledger.seq}, sum ${word(made.ledger.sum)}`,
    `witness: ${word(made.witness)}`,
  ];
}

function section(title: string, lines: readonly Part[]): readonly Part[] {
  return lines.length === 0 ? [] : ["", `## ${title}`, "", ...lines];
}

function list(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `- ${line}`);
}

/** Letters without a meaning in Markdown or a terminal; all else is a question mark. */
function word(text: string): string {
  return text.replace(/[^A-Za-z0-9 .,:;#@()/_-]/g, "?").slice(0, 200);
}

/** Foreign text, cut where it is long: the whole stands in `report.json`. */
function block(text: string): readonly string[] {
  const cut = text.length > blockCharsMax ? `${text.slice(0, blockCharsMax)}\n(cut)` : text;
  const shown = printable(cut);
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  return ["", `${fence}text`, shown, fence, ""];
}

/** What would steer a terminal, turn the reading direction or end a line unseen is shown as its number. */
function printable(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, (char) =>
      char === "\n" || char === "\t" ? char : `\\u{${(char.codePointAt(0) as number).toString(16)}}`,
    );
}
