import type { Grade } from "../../core/head.ts";
import { type NonEmpty, ok, type Refusal, type Result, refuse } from "../../core/result.ts";
import { type GateName, isHumanGrade, isOption, needsHuman } from "../../parts/gate.ts";
import { nextPass } from "../../parts/passes.ts";
import type { ChangeEvent } from "./events.ts";
import { outputEvents } from "./labels.ts";
import { type ChangeState, passOf } from "./state.ts";

export interface AnswerCommand {
  readonly do: "answer";
  readonly gate: string;
  readonly choice: string;
  readonly grade: Grade;
  /** The opening of the gate that is meant: a late duplicate must not answer the next one. */
  readonly nonce?: string;
  /** sha-256 of the text handed in with the answer. */
  readonly text?: string;
  /** The packet completed with a clarification. */
  readonly packet?: { readonly sha256: string; readonly assumed: readonly string[]; readonly hasCommand: boolean };
}

/**
 * Consumes the open gate, once. The same answer again is `already` (null).
 * Refuses `gate.not_open`, `gate.answered`, `gate.choice`, `gate.unattested`.
 */
export function decideAnswer(
  state: ChangeState,
  command: AnswerCommand,
): Result<NonEmpty<ChangeEvent> | null, Refusal> {
  const { gate, choice, grade } = command;
  const { open, answers } = state.gates;
  if (command.nonce !== undefined && open?.nonce !== command.nonce) {
    const before = answers.find((answer) => answer.nonce === command.nonce);
    if (before?.choice === choice) return ok(null);
    return before === undefined
      ? refuse("gate.not_open", `gate ${gate} is not open under that nonce`, "atlas next")
      : refuse("gate.answered", `that opening of gate ${gate} was answered "${before.choice}" already`, "atlas next");
  }
  if (open === null || open.gate !== gate) {
    const last = answers.findLast((answer) => answer.gate === gate);
    if (last !== undefined && last.choice === choice) return ok(null);
    if (last !== undefined && open === null) {
      return refuse("gate.answered", `gate ${gate} was answered "${last.choice}" already`, "atlas next");
    }
    return refuse("gate.not_open", `gate ${gate} is not open`, "atlas next");
  }
  if (!isOption(open.options, choice)) {
    return refuse("gate.choice", `gate ${gate} takes one of: ${open.options.join(", ")}`, "atlas next");
  }
  if (needsHuman(open.gate, choice) && !isHumanGrade(grade)) {
    return refuse(
      "gate.unattested",
      `"${choice}" at gate ${gate} needs the human's own word; the human types it into the prompt`,
      `atlas ${open.nonce} ${choice}`,
    );
  }
  const answered: ChangeEvent = {
    type: "answered",
    gate: open.gate,
    nonce: open.nonce,
    choice,
    grade,
    ...(command.text === undefined ? {} : { text: command.text }),
  };
  return ok([answered, ...consequences(state, open.gate, choice, command)]);
}

function consequences(
  state: ChangeState,
  gate: GateName,
  choice: string,
  command: AnswerCommand,
): readonly ChangeEvent[] {
  switch (gate) {
    case "clarify": {
      const packet = command.packet;
      if (packet === undefined) return [];
      const { sha256, assumed, hasCommand } = packet;
      return [
        { type: "packet-set", packet: sha256, assumed, hasCommand, baseline: state.baseline },
        { type: "stage", stage: "CLARIFY" },
      ];
    }
    case "pre-code":
      return choice === "cancel"
        ? [
            { type: "labelled", label: "UNVERIFIED", reasons: ["cancelled"] },
            ...outputEvents({ ...state, label: "UNVERIFIED" }, choice),
          ]
        : [];
    case "output":
      if (choice === "apply" || choice === "discard") return [{ type: "delivery-wanted", choice }];
      if (state.phase.at === "ended") return [];
      return choice === "refine" && nextPass(passOf(state)) !== null
        ? [{ type: "stage", stage: "REFINE" }]
        : outputEvents(state, choice);
    case "gas":
      return choice === "stop"
        ? [{ type: "labelled", label: "UNVERIFIED", reasons: ["gas.exhausted"] }]
        : [{ type: "gas-granted", amount: Number(choice.slice("grant:".length)), why: "gate" }];
    default:
      return [];
  }
}
