/** OpenAI chat completions as Kimi Code speaks them: `POST /v1/chat/completions`, answered as an event stream. */
import type { ServerResponse } from "node:http";
import { type Conversation, type MockModel, type Reply, type Respond, type Spoken, serveModel } from "./mock-model.ts";

type Content = string | null | readonly { readonly type: string; readonly text?: string }[];

interface Message {
  readonly role: string;
  readonly content?: Content;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
}

interface Body {
  readonly messages: readonly Message[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

export function mockKimi(respond: Respond): Promise<MockModel> {
  return serveModel({ read, write }, respond);
}

function read(path: string, text: string): Conversation | null {
  if (!path.startsWith("/v1/chat/completions")) return null;
  const { messages, tools = [] } = JSON.parse(text) as Body;
  return {
    spoken: messages.filter(({ role }) => role !== "system").flatMap(spokenOf),
    system: messages.flatMap(({ role, content }) => (role === "system" ? textsOf(content) : [])).join("\n"),
    tools: tools.map((tool) => tool.function.name),
    body: text,
  };
}

function spokenOf({ role, content, tool_calls: calls = [] }: Message): readonly Spoken[] {
  const texts = textsOf(content);
  if (role === "assistant") {
    const made = calls.map(({ function: { name, arguments: input } }) => ({
      name,
      input: JSON.parse(input === "" ? "{}" : input) as Record<string, unknown>,
    }));
    return [{ by: "model", text: texts.join("\n"), calls: made }];
  }
  if (role === "tool") return [{ by: "host", from: "tool", text: texts.join("\n") }];
  return texts.map((text) => ({ by: "host", from: "user", text }));
}

function textsOf(content: Content | undefined): readonly string[] {
  if (content === null || content === undefined) return [];
  return typeof content === "string" ? [content] : content.map((part) => part.text ?? "");
}

let replies = 0;

function write(response: ServerResponse, reply: Reply, model: string): void {
  const id = replies++;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (choices: readonly object[], more: object = {}): void => {
    const data = { id: `chat-${id}`, object: "chat.completion.chunk", created: 0, model, choices, ...more };
    response.write(`data: ${JSON.stringify(data)}\n\n`);
  };
  const tool_calls = reply.calls.map((call, index) => ({
    index,
    id: `call_${id}_${index}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.input) },
  }));
  const delta = { role: "assistant", content: reply.text, ...(tool_calls.length === 0 ? {} : { tool_calls }) };
  chunk([{ index: 0, delta, finish_reason: null }]);
  chunk([{ index: 0, delta: {}, finish_reason: tool_calls.length === 0 ? "stop" : "tool_calls" }]);
  const prompt_tokens = reply.inputTokens ?? 10;
  chunk([], { usage: { prompt_tokens, completion_tokens: 5, total_tokens: prompt_tokens + 5 } });
  response.end("data: [DONE]\n\n");
}
