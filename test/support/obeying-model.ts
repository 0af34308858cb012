/**
 * A model that only obeys: no run id, slot, claim, path or command of its own. Each comes from the last text the host
 * sent (pointer, loaded skill, printed instruction, packet), so a changed instruction changes what it does.
 */
import { type Conversation, type Reply, type Spoken, say } from "./mock-model.ts";
import { agentMove, type Hands, unnumbered } from "./obeying-agent.ts";
import { type Order, pointedCommand, printedOrder, skillCommands, wantedCommand } from "./printed-order.ts";

const summaryAsked = /create a (detailed|handoff) summary/i;

export function obey(asked: Conversation, hands: Hands): Reply {
  if (isSummaryAsked(asked)) return say(summary);
  return agentMove(asked, hands) ?? rootMove(asked, hands);
}

/** Whether the host wants its compaction's summary. */
export function isSummaryAsked(asked: Conversation): boolean {
  const last = asked.spoken.at(-1);
  return last?.by === "host" && last.from === "user" && summaryAsked.test(last.text);
}

/** It says nothing of any run: what a model forgets must not be needed. */
const summary = "<analysis>Nothing.</analysis>\n<summary>\nThe user asked for something.\n</summary>";

function rootMove(asked: Conversation, hands: Hands): Reply {
  const { spoken } = asked;
  const batch = spoken.slice(spoken.findLastIndex(({ by }) => by === "model") + 1);
  const isAnswer = batch.some((piece) => piece.by === "host" && piece.from === "tool");
  // After a compaction a pointer may stand beside the last tool's result: it is the newer word.
  if (!isAnswer || batch.some((piece) => pointedCommand(piece.text) !== null)) return turnBegins(batch, hands);
  const last = ordersOf(spoken).at(-1);
  const failed = skillFallback(spoken);
  if (failed !== null) return run(hands, failed);
  return last === undefined ? say("Nothing was printed.") : goOn(asked, last, hands);
}

function turnBegins(batch: readonly Spoken[], hands: Hands): Reply {
  const text = batch.map((piece) => piece.text).join("\n");
  const isCalled = /<command-name>|User activated the skill/.test(text);
  const [skill] = batch.flatMap((piece) => skillCommands(piece.text));
  const pointed = pointedCommand(text);
  const command = (isCalled ? skill : null) ?? pointed ?? skill ?? wantedCommand(text);
  return command === null ? say("What shall I do?") : run(hands, command);
}

interface Given {
  readonly order: Order;
  readonly at: number;
}

function ordersOf(spoken: readonly Spoken[]): readonly Given[] {
  return spoken.flatMap((piece, at) => {
    const order = piece.by === "host" && piece.from === "tool" ? printedOrder(piece.text) : null;
    return order === null ? [] : [{ order, at }];
  });
}

function goOn(asked: Conversation, { order, at }: Given, hands: Hands): Reply {
  // Results of agents that have returned are handed in before anything else.
  const owed = owedCommands(asked.spoken);
  if (owed[0] !== undefined) return run(hands, owed[0]);
  switch (order.do) {
    case "dispatch": {
      const calls = order.agents.map((agent) => hands.agent(agentType(asked, agent.role), agent.prompt));
      return { text: "", calls };
    }
    case "submit": {
      const after = asked.spoken.slice(at + 1).filter((piece) => piece.by === "host" && piece.from === "tool");
      if (after.length === 0) return { text: "", calls: [hands.read(order.recipe)] };
      if (after.length > 1) return run(hands, order.then);
      return { text: "", calls: [hands.write(order.write, asRecipeSays((after[0] as Spoken).text))] };
    }
    case "command":
      return run(hands, order.command);
    case "idle": {
      const wanted = wantedCommand(asked.spoken.map((piece) => (piece.by === "host" ? piece.text : "")).join("\n"));
      return wanted === null || commandsOf(asked.spoken).includes(wanted) ? say("Done.") : run(hands, wanted);
    }
    case "ask":
      return askHuman(asked, order, at, hands);
    case "stop":
      return say(order.text);
  }
}

/** Shows what the human must see, asks as printed, passes the answer on. Without a tool for it the question is a stop. */
function askHuman(asked: Conversation, order: Extract<Order, { do: "ask" }>, at: number, hands: Hands): Reply {
  const call = hands.ask?.(order.asked);
  if (call === undefined || !asked.tools.includes(call.name)) return say(order.text);
  const after = asked.spoken.slice(at + 1).filter((piece) => piece.by === "host" && piece.from === "tool");
  if (after.length === 0) return { text: "", calls: [hands.read(order.show)] };
  if (after.length === 1) return { text: unnumbered((after[0] as Spoken).text), calls: [call] };
  const said = `"${order.asked.question}"="`;
  const answer = (after.at(-1) as Spoken).text.split(said)[1]?.split('"')[0];
  return answer === undefined ? say(order.text) : run(hands, order.then.replace("CHOICE", answer));
}

/** Commands of agents that were started and whose results nobody has handed in. */
function owedCommands(spoken: readonly Spoken[]): readonly string[] {
  return ordersOf(spoken).flatMap(({ order, at }) => {
    if (order.do !== "dispatch") return [];
    const after = spoken.slice(at + 1);
    const prompts = new Set(callsOf(after).map(({ input }) => input.prompt));
    const done = new Set(commandsOf(after));
    return order.agents.filter(({ prompt, then }) => prompts.has(prompt) && !done.has(then)).map(({ then }) => then);
  });
}

/** The skill's next form of its command, where the last one was not found. */
function skillFallback(spoken: readonly Spoken[]): string | null {
  const last = spoken.at(-1);
  if (last?.by !== "host" || !/not found/.test(last.text)) return null;
  const forms = spoken.flatMap((piece) => (piece.by === "host" ? skillCommands(piece.text) : []));
  const tried = commandsOf(spoken).at(-1);
  return forms[forms.lastIndexOf(tried ?? "") + 1] ?? null;
}

/** A recipe asks for Markdown, or shows the one JSON object it asks for. */
function asRecipeSays(numbered: string): string {
  const recipe = unnumbered(numbered);
  const example = /^`(\{.+\})`$/m.exec(recipe)?.[1];
  return example ?? "# Plan\n\nOne file, one line.\n";
}

/** A role as the host lists it. */
function agentType(asked: Conversation, role: string): string {
  return new RegExp(`[\\w-]+:${role}\\b`).exec(asked.body)?.[0] ?? role;
}

function run(hands: Hands, command: string): Reply {
  return { text: "", calls: [hands.bash(command)] };
}

function callsOf(spoken: readonly Spoken[]) {
  return spoken.flatMap((piece) => (piece.by === "model" ? piece.calls : []));
}

function commandsOf(spoken: readonly Spoken[]): readonly string[] {
  return callsOf(spoken).map(({ input }) => String(input.command ?? ""));
}
