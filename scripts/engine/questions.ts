/** The words of a gate: its question with the nonce, and what each option means. Printed so, and compared so. */
import { shownQuestion } from "../core/shown-question.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import type { OpenGate } from "../parts/gate.ts";

const questions: Readonly<Record<string, string>> = {
  clarify: "The request leaves something open that the run rests on. What is missing?",
  "approve-command": "May this run execute the commands of its packet?",
  "pre-code": "The plan is ready. May the coder begin?",
  output: "The run is done. What shall happen with its result?",
  gas: "The run has used up its gas. Grant more, or stop?",
};

/** One question a field at most, each with the line that answers it. */
const fieldQuestions: Readonly<Record<string, string>> = {
  success_criteria: "How is it seen to be done? (a line `success: …`)",
  verify_cmd: "Which command proves it? (a line `verify_cmd: …`)",
  scope_paths: "Which paths may change? (a line `scope: …`)",
};

const meanings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  clarify: { text: "Your own words" },
  "approve-command": {
    approve: "They may run on this machine, with your rights",
    reject: "They are not run; the result stays unverified",
  },
  "pre-code": {
    approve: "The coder begins",
    adjust: "You say what to change, and the plan is written once more",
    cancel: "The run ends, and nothing is coded",
  },
  output: {
    apply: "You take the result",
    refine: "One more pass over it",
    discard: "You do not take the result",
    "follow-up": "The run ends here; another one goes on from it",
  },
  gas: { "grant:<n>": "So many more agents, 1 to 999", stop: "The run ends unverified" },
};

/** With the nonce: what is asked now, and no other time. */
export function questionOf(
  { gate, nonce }: { readonly gate: string; readonly nonce: string },
  state: Partial<ChangeState>,
): string {
  const question = questions[gate] ?? "What shall be done?";
  const fields = gate === "clarify" ? (state.missing ?? []).map((field) => fieldQuestions[field]) : [];
  return `${[question, ...fields.filter((text) => text !== undefined)].join(" ")} (${nonce})`;
}

/** One for each option, in their order; empty where there is nothing to say. */
export function meaningsOf(gate: string, options: readonly string[]): readonly string[] {
  return options.map((option) => meanings[gate]?.[option] ?? "");
}

/** What a host that asked word for word has shown. */
export function shownGate(open: OpenGate, state: Partial<ChangeState>): string {
  const { gate, options } = open;
  const told = meaningsOf(gate, options);
  const shown = options.map((label, at) => ({ label, description: told[at] as string }));
  return shownQuestion(questionOf(open, state), shown);
}
