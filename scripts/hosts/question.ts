/**
 * What a human chose in the host's own question tool, as its hook tells it. Only a question that stood alone, with one
 * answer that is one of its options and nothing besides, is a choice; anything else is somebody's words.
 */
import { nonceOfQuestion, type ShownOption, shownQuestion } from "../core/shown-question.ts";
import { recordOf, textOf } from "./event.ts";

export interface Choice {
  readonly nonce: string;
  readonly choice: string;
  /** What was on the screen: question, options and what they mean. */
  readonly shown: string;
}

/** Null: no question of a gate, or no plain choice. An agent's question is not the session's. */
export function humanChoice(payload: Readonly<Record<string, unknown>>): Choice | null {
  if (payload.tool_name !== "AskUserQuestion" || payload.agent_id !== undefined) return null;
  const { questions, answers, annotations } = recordOf(payload.tool_response);
  if (!Array.isArray(questions) || questions.length !== 1) return null;
  const asked = recordOf(questions[0]);
  const question = textOf(asked.question);
  const nonce = nonceOfQuestion(question);
  const options = Array.isArray(asked.options) ? asked.options.map(shownOption) : [];
  if (nonce === null || asked.multiSelect !== false || options.includes(null)) return null;
  const answer = Object.hasOwn(recordOf(answers), question) ? recordOf(answers)[question] : null;
  const sound = options as readonly ShownOption[];
  if (typeof answer !== "string" || sound.filter(({ label }) => label === answer).length !== 1) return null;
  // A choice with a note is a choice with a condition.
  if (Object.values(recordOf(recordOf(annotations)[question])).some((note) => note !== "")) return null;
  return { nonce, choice: answer, shown: shownQuestion(question, sound) };
}

/** Null: it shows more than a label and a description. */
function shownOption(value: unknown): ShownOption | null {
  const { label, description, ...more } = recordOf(value);
  if (typeof label !== "string" || typeof description !== "string" || Object.keys(more).length > 0) return null;
  return { label, description };
}
