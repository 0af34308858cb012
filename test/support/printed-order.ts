/** Reads what the command line prints for a model, in its text form. Knows the form and none of what stands in it. */

export interface PrintedAgent {
  readonly role: string;
  readonly prompt: string;
  readonly then: string;
}

export interface PrintedQuestion {
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

export type Order =
  | { readonly do: "dispatch"; readonly agents: readonly PrintedAgent[] }
  | { readonly do: "submit"; readonly recipe: string; readonly write: string; readonly then: string }
  /** `run`, `await` and `wait`: one command. */
  | { readonly do: "command"; readonly command: string }
  | { readonly do: "idle" }
  | {
      readonly do: "ask";
      readonly asked: PrintedQuestion;
      readonly show: string;
      readonly then: string;
      readonly text: string;
    }
  /** `report`, `nothing`, a refusal: the legal stops. */
  | { readonly do: "stop"; readonly text: string };

/** null: the text is no instruction. */
export function printedOrder(text: string): Order | null {
  const line = (name: string): string => new RegExp(`^${name}: (.+)$`, "m").exec(text)?.[1] ?? "";
  const asked = /^do: (\w+)/m.exec(text)?.[1];
  switch (asked) {
    case "dispatch":
      return { do: "dispatch", agents: printedAgents(text) };
    case "submit":
      return { do: "submit", recipe: line("recipe"), write: line("write"), then: line("then") };
    case "run":
      return { do: "command", command: line("run") };
    case "await":
    case "wait":
      return { do: "command", command: line("then") };
    case "ask":
      return { do: "ask", asked: printedQuestion(text), show: line("show the human first"), then: line("then"), text };
    case undefined:
      if (/^nothing to resume/m.test(text)) return { do: "idle" };
      return /^refused \S+:/m.test(text) ? { do: "stop", text } : null;
    default:
      return { do: "stop", text };
  }
}

function printedAgents(text: string): readonly PrintedAgent[] {
  const shape = /^- agent (\S+) .*\n {2}prompt: (.+)\n {2}result: .+\n {2}then: (.+)$/gm;
  return [...text.matchAll(shape)].map(([, role = "", prompt = "", then = ""]) => ({ role, prompt, then }));
}

function printedQuestion(text: string): PrintedQuestion {
  const options = [...text.matchAll(/^- (\S+): (.*)$/gm)];
  return {
    question: /^question: (.+)$/m.exec(text)?.[1] ?? "",
    options: options.map(([, label = "", description = ""]) => ({ label, description })),
  };
}

/** The command of a pointer, as a hook prints it. */
export function pointedCommand(text: string): string | null {
  return /^Now run: (.+)$/m.exec(text)?.[1] ?? null;
}

/** What a loaded skill says to run first, and what instead where that is not found. */
export function skillCommands(text: string): readonly string[] {
  if (!/Base directory for this skill|<skill-loaded|<plugin_session_start/.test(text)) return [];
  return [...text.matchAll(/^`([^`]+)`$/gm)].map((match) => match[1] as string);
}

/** What the test's user wants typed: a line `Run: …` of the prompt. */
export function wantedCommand(text: string): string | null {
  return /^Run: (.+)$/m.exec(text)?.[1] ?? null;
}
