import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import type { AnswerCommand } from "../kinds/change/decide-answer.ts";
import type { MissingField } from "../kinds/change/door-packet.ts";
import { packetDoor } from "../kinds/change/doors.ts";
import { parseRequestText } from "../kinds/change/request-text.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { writeArtifact } from "./artifacts.ts";
import type { Engine } from "./context.ts";
import { withDefaults } from "./discover.ts";
import { userTree } from "./effects.ts";
import type { Loaded } from "./ledger.ts";
import { halfTheMachine } from "./memory.ts";
import { PACKET_ARTIFACT, readPacket } from "./packets.ts";

const ownLine = "Clarified:";

/** The packet completed with the human's words, by the request grammar; what is still missing is assumed, never asked again. */
export function clarified(
  engine: Engine,
  loaded: Loaded<ChangeState>,
  command: AnswerCommand,
  bytes: Uint8Array,
): Result<AnswerCommand, Refusal> {
  const before = readPacket(engine, loaded);
  if (before === null) return ok(command);
  // A clarification may be clauses alone; its own words stand behind a first line of ours.
  const words = parseRequestText(
    `${ownLine}\n${Buffer.from(bytes)
      .toString("utf8")
      .replace(/^\ufeff/, "")}`,
  );
  if (!words.ok) return refuse(words.error.code, words.error.reason, "mend the file and answer gate clarify again");
  const { success_criteria, scope_paths, verify_cmd } = words.value;
  const said = words.value.intent.slice(ownLine.length).trim();
  const open = new Set(loaded.state.missing);
  // Only what was missing may be filled: a clarification never rewrites the request, its words stand behind it.
  const given = {
    ...before,
    ...(said === "" ? {} : { intent: `${before.intent}\n\n${ownLine} ${said}` }),
    ...(open.has("success_criteria") && success_criteria !== undefined ? { success_criteria } : {}),
    ...(open.has("scope_paths") && scope_paths !== undefined ? { scope_paths } : {}),
    ...(open.has("verify_cmd") && verify_cmd !== undefined ? { verify_cmd } : {}),
  };
  const checked = packetDoor(given, { memoryBytes: halfTheMachine(), recovered: true });
  if (!checked.ok) return checked;
  const stillMissing = ([...open] as MissingField[]).filter((field) =>
    field === "scope_paths" ? scope_paths === undefined : checked.value.missing.includes(field),
  );
  const filled = withDefaults(engine.fs, userTree(loaded), checked.value.packet, stillMissing);
  const packet = Buffer.from(`${JSON.stringify(filled.packet, null, 2)}\n`, "utf8");
  const text = writeArtifact(engine.fs, loaded.folder, { slot: "answer-clarify", pass: 0, extension: "txt" }, bytes);
  const sha = writeArtifact(engine.fs, loaded.folder, PACKET_ARTIFACT, packet);
  return ok({
    ...command,
    text,
    packet: { sha256: sha, assumed: filled.assumed, hasCommand: filled.packet.verify_cmd !== "" },
  });
}
