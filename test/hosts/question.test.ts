/** What counts as a human's choice in Claude Code's own question, from the payload the real client sends. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { shownQuestion } from "../../scripts/core/shown-question.ts";
import { claude } from "../../scripts/hosts/claude.ts";
import { kimi } from "../../scripts/hosts/kimi.ts";
import { humanChoice } from "../../scripts/hosts/question.ts";
import { repositoryRoot } from "../support/run-cli.ts";

interface Asked {
  question: string;
  multiSelect: unknown;
  options: { label: string; description: unknown; preview?: string }[];
}

interface Payload extends Record<string, unknown> {
  tool_name: string;
  tool_response: { questions: Asked[]; answers: Record<string, unknown>; annotations?: Record<string, unknown> };
}

const fixture = join(repositoryRoot, "test/fixtures/hook-stdin/claude-code/posttooluse-askuserquestion.json");

function payload(change: (payload: Payload, asked: Asked) => void = () => {}): Payload {
  const value = JSON.parse(readFileSync(fixture, "utf8")) as Payload;
  change(value, value.tool_response.questions[0] as Asked);
  return value;
}

const question = "May this run execute the commands of its packet? (0123abcd)";
const options = [
  { label: "approve", description: "They may run on this machine, with your rights" },
  { label: "reject", description: "They are not run; the result stays unverified" },
];

test("an option chosen in a question that ends with a nonce is a choice, with all that was shown", () => {
  const shown = shownQuestion(question, options);
  expect(humanChoice(payload())).toEqual({ nonce: "0123abcd", choice: "approve", shown });
  expect(claude.read("PostToolUse", payload())).toEqual({ on: "choice", nonce: "0123abcd", choice: "approve", shown });
  // An older client sends no annotations.
  expect(humanChoice(payload(({ tool_response }) => delete tool_response.annotations))).not.toBeNull();
});

describe("what was shown is another thing", () => {
  const shown = humanChoice(payload())?.shown;
  test.each<[string, (asked: Asked) => void]>([
    ["with options in another order", (asked) => asked.options.reverse()],
    ["with another description", (asked) => Object.assign(asked.options[0] as object, { description: "harmless" })],
    ["with another label", (asked) => Object.assign(asked.options[1] as object, { label: "no" })],
    ["with an option more", (asked) => asked.options.push({ label: "later", description: "" })],
    ["with an option less", (asked) => asked.options.pop()],
  ])("%s", (_name, change) => {
    const other = humanChoice(payload((_payload, asked) => change(asked)));
    expect(other).toMatchObject({ nonce: "0123abcd", choice: "approve" });
    expect(other?.shown).not.toBe(shown);
  });

  test("with another question before the same nonce", () => {
    const text = "Shall I run the tests? (0123abcd)";
    const other = payload(({ tool_response }, asked) => {
      asked.question = text;
      tool_response.answers = { [text]: "approve" };
    });
    expect(humanChoice(other)?.shown).not.toBe(shown);
  });

  test("whichever way its parts are cut", () => {
    const texts = [["a", "b"], ["a"], ["a", "b", "c"], ['a","b']].map((labels) =>
      shownQuestion(
        "q",
        labels.map((label) => ({ label, description: "" })),
      ),
    );
    expect(new Set(texts).size).toBe(texts.length);
  });
});

describe("is no choice", () => {
  test.each<[string, (payload: Payload, asked: Asked) => void]>([
    ["a subagent's question", (given) => Object.assign(given, { agent_id: "a1", agent_type: "atlas:elite-coder" })],
    ["another tool", (given) => Object.assign(given, { tool_name: "Bash" })],
    ["free text", (given) => Object.assign(given.tool_response.answers, { [question]: "approve, but only the tests" })],
    ["an answer that is no text", (given) => Object.assign(given.tool_response.answers, { [question]: ["approve"] })],
    ["no answer", (given) => Object.assign(given.tool_response, { answers: {} })],
    ["no answers at all", (given) => Object.assign(given.tool_response, { answers: null })],
    ["several answers at once", (_given, asked) => Object.assign(asked, { multiSelect: true })],
    ["a question that does not say how many", (_given, asked) => Object.assign(asked, { multiSelect: undefined })],
    ["a question beside another", ({ tool_response: { questions } }) => questions.push({ ...(questions[0] as Asked) })],
    ["no question", (given) => Object.assign(given.tool_response, { questions: [] })],
    ["a picture beside an option", (_given, asked) => Object.assign(asked.options[0] as object, { preview: "x" })],
    ["an option named twice", (_given, asked) => asked.options.push({ label: "approve", description: "" })],
    ["a description that is no text", (_given, asked) => Object.assign(asked.options[0] as object, { description: 1 })],
    [
      "a choice with a note",
      (given) => Object.assign(given.tool_response, { annotations: { [question]: { notes: "if it is safe" } } }),
    ],
    ["a response that is a text", (given) => Object.assign(given, { tool_response: "approve" })],
  ])("%s", (_name, change) => {
    expect(humanChoice(payload(change))).toBeNull();
  });

  test.each(["May it?", "May it? (0123ABCD)", "May it? (0123abcd) ", "(0123abcd) May it?", "May it? 0123abcd"])(
    "a question without a nonce at its end: %j",
    (text) => {
      const other = payload(({ tool_response }, asked) => {
        asked.question = text;
        tool_response.answers = { [text]: "approve" };
      });
      expect(humanChoice(other)).toBeNull();
    },
  );

  test("anything on Kimi Code, whose payloads do not tell an agent's question from the session's", () => {
    expect(kimi.read("PostToolUse", payload())).toBeNull();
  });
});
