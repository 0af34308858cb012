/** Sheets for what the root session writes or asks itself: written before the instruction that names them is printed. */
import { join } from "node:path";
import { type RootMaterial, type RootTopic, rootSheet } from "../kinds/change/root-sheet.ts";
import { type ChangeState, filledKey, passOf } from "../kinds/change/state.ts";
import { gasLeft } from "../parts/gas.ts";
import { entryKind, readBounded } from "../platform/files.ts";
import { readArtifact } from "./artifacts.ts";
import type { Engine } from "./context.ts";
import { writeSheet } from "./hand-out.ts";
import { labelNow } from "./label-now.ts";
import type { Loaded } from "./ledger.ts";
import { readPacket } from "./packets.ts";
import { reportedEvidence } from "./report-measures.ts";

const intentBytesMax = 64 * 1024;

const topics: ReadonlySet<string> = new Set([
  "packet",
  "triage",
  "plan",
  "clarify",
  "approve-command",
  "pre-code",
  "output",
  "gas",
]);

/** Absolute path of the sheet for a slot or a gate; each opening has its own. */
export function rootPacketPath(loaded: Loaded<ChangeState>, topic: string): string {
  const opening = `${topic}.${passOf(loaded.state)}.${loaded.state.gates.answers.length}`;
  return join(loaded.folder.ledger, "packets", opening, "packet.md");
}

/** Writes the sheet of the next step, if it is a submit or an ask and is not written yet. */
export function writeRootPacket(engine: Engine, loaded: Loaded<ChangeState>): void {
  const step = loaded.kind.next(loaded.state);
  const topic = step.step === "submit" ? step.slot : step.step === "ask" ? step.gate : null;
  if (topic === null || !isTopic(topic)) return;
  const path = rootPacketPath(loaded, topic);
  if (entryKind(engine.fs, path) === "file") return;
  const nonce = engine.moment.fresh("packet") + engine.moment.fresh("packet");
  writeSheet(engine, path, rootSheet(topic, materialOf(engine, loaded), nonce));
}

function isTopic(text: string): text is RootTopic {
  return topics.has(text);
}

function materialOf(engine: Engine, loaded: Loaded<ChangeState>): RootMaterial {
  const { state, folder } = loaded;
  const packet = readPacket(engine, loaded);
  const intent = readBounded(engine.fs, join(folder.ledger, "intent.txt"), intentBytesMax);
  const commands = [
    ["verify", packet?.verify_cmd],
    ["setup", packet?.setup_cmd],
    ["lint", packet?.lint_cmd],
  ] as const;
  return {
    request: packet?.intent ?? (intent.kind === "file" ? intent.bytes.toString("utf8") : null),
    criteria: packet?.success_criteria ?? [],
    scope: packet?.scope_paths ?? [],
    commands: commands.flatMap(([name, command]) =>
      command === undefined || command === "" ? [] : [`${name}: ${command}`],
    ),
    missing: state.missing,
    assumptions: state.assumed.map((field) => `${field}: the default was taken`),
    losses: state.losses,
    scout: textOf(engine, loaded, "scout", "json"),
    plan: textOf(engine, loaded, "plan", "md"),
    words: wordsOf(engine, loaded),
    outcome: outcomeOf(engine, loaded),
  };
}

function textOf(engine: Engine, loaded: Loaded<ChangeState>, slot: string, extension: string): string | null {
  const filled = loaded.state.filled[filledKey(slot, 0)];
  if (filled === undefined) return null;
  return readArtifact(engine.fs, loaded.folder, { slot, pass: 0, extension }, filled.sha256).toString("utf8");
}

function wordsOf(engine: Engine, loaded: Loaded<ChangeState>): string | null {
  const last = loaded.state.gates.answers.findLast((answer) => answer.text !== undefined);
  if (last?.text === undefined) return null;
  const name = { slot: `answer-${last.gate}`, pass: 0, extension: "txt" };
  return readArtifact(engine.fs, loaded.folder, name, last.text).toString("utf8");
}

function outcomeOf(engine: Engine, loaded: Loaded<ChangeState>): readonly string[] {
  const { state, folder } = loaded;
  const now = labelNow(engine, loaded);
  const evidence = reportedEvidence(engine, loaded, passOf(state));
  const spent = `${state.gas.charged} leases of ${state.gas.granted} gas, ${gasLeft(state.gas)} left`;
  return [
    ...(now.label === null ? [] : [`label: ${now.label}`]),
    ...now.reasons.map((reason) => `why: ${reason}`),
    ...(evidence === null ? [] : [`command: ${evidence.command.ending} ${evidence.command.code ?? ""}`.trimEnd()]),
    ...(state.label === null ? [] : [`patch: ${join(folder.ledger, "artifacts", "result.patch")}`]),
    `work: ${spent}, ${state.refinePasses} of 2 refine passes`,
  ];
}
