/**
 * Gates: the questions only a human answers. An open gate is consumed by exactly one answer. What an answer's
 * grade must be stands here, so that a model's word can never apply, discard, approve a command or grant gas.
 */
import type { Grade } from "../core/head.ts";
import { IllegalEvent } from "../core/result.ts";

export type GateName = "clarify" | "approve-command" | "pre-code" | "plan" | "output" | "gas";

export interface OpenGate {
  readonly gate: GateName;
  /** 8 hex; stands in the question, and in what the human types. */
  readonly nonce: string;
  readonly options: readonly string[];
}

export interface Answer {
  readonly gate: GateName;
  readonly nonce: string;
  readonly choice: string;
  readonly grade: Grade;
  /** sha-256 of the human's words, an artifact. */
  readonly text?: string;
}

export interface Gates {
  readonly open: OpenGate | null;
  readonly answers: readonly Answer[];
}

export type GateEvent =
  | { readonly type: "asked"; readonly gate: GateName; readonly nonce: string; readonly options: readonly string[] }
  | {
      readonly type: "answered";
      readonly gate: GateName;
      readonly nonce: string;
      readonly choice: string;
      readonly grade: Grade;
      /** sha-256 of the text handed in with it, an artifact. */
      readonly text?: string;
    };

export const NO_GATES: Gates = { open: null, answers: [] };

export function applyGate(gates: Gates, event: GateEvent): Gates {
  if (event.type === "asked") {
    if (gates.open !== null) throw new IllegalEvent(`gate ${gates.open.gate} is open`, event.type);
    return { ...gates, open: { gate: event.gate, nonce: event.nonce, options: event.options } };
  }
  if (gates.open === null || gates.open.gate !== event.gate || gates.open.nonce !== event.nonce) {
    throw new IllegalEvent("no such open gate", event.type);
  }
  const { gate, nonce, choice, grade, text } = event;
  return {
    open: null,
    answers: [...gates.answers, { gate, nonce, choice, grade, ...(text === undefined ? {} : { text }) }],
  };
}

/** The run went elsewhere than the open question was about. */
export function withoutQuestion(gates: Gates): Gates {
  return { ...gates, open: null };
}

/** Choices whose grade must be `host` or `typed`: they run, write, throw away or spend. */
export function needsHuman(gate: GateName, choice: string): boolean {
  if (gate === "approve-command") return choice === "approve";
  if (gate === "gas") return choice.startsWith("grant");
  if (gate === "output") return choice === "apply" || choice === "discard";
  return false;
}

export function isHumanGrade(grade: Grade): boolean {
  return grade === "host" || grade === "typed";
}

/** `options` may hold a pattern `name:<n>`: a whole number from 1 to 999 stands there. */
export function isOption(options: readonly string[], choice: string): boolean {
  return options.some((option) =>
    option.endsWith(":<n>") ? new RegExp(`^${option.slice(0, -3)}[1-9][0-9]{0,2}$`).test(choice) : option === choice,
  );
}
