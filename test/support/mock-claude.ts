/** The Messages API as Claude Code speaks it: `POST /v1/messages`, answered as an event stream. */
import type { ServerResponse } from "node:http";
import {
  type Call,
  type Conversation,
  type MockModel,
  type Reply,
  type Respond,
  type Spoken,
  serveModel,
} from "./mock-model.ts";

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly input?: Readonly<Record<string, unknown>>;
  readonly content?: string | readonly Block[];
}

interface Body {
  readonly system?: string | readonly Block[];
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
  readonly tools?: readonly { readonly name: string }[];
}

export function mockClaude(respond: Respond): Promise<MockModel> {
  return serveModel({ read, write }, respond);
}

function read(path: string, text: string): Conversation | null {
  if (!/^\/v1\/messages(\?|$)/.test(path)) return null;
  const body = JSON.parse(text) as Body;
  return {
    spoken: body.messages.flatMap(({ role, content }) => spokenOf(role, blocksOf(content))),
    system: textOf(body.system ?? ""),
    tools: (body.tools ?? []).map((tool) => tool.name),
    body: text,
  };
}

function spokenOf(role: string, blocks: readonly Block[]): readonly Spoken[] {
  if (role === "assistant") {
    const calls = blocks.filter(({ type }) => type === "tool_use");
    return [{ by: "model", text: textOf(blocks), calls: calls.map(({ name = "", input = {} }) => ({ name, input })) }];
  }
  return blocks.map((block) =>
    block.type === "tool_result"
      ? { by: "host", from: "tool", text: textOf(block.content ?? "") }
      : { by: "host", from: role === "system" ? "system" : "user", text: block.text ?? "" },
  );
}

function blocksOf(content: string | readonly Block[]): readonly Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function textOf(content: string | readonly Block[]): string {
  return blocksOf(content)
    .filter(({ type }) => type === "text")
    .map(({ text }) => text ?? "")
    .join("\n");
}

let replies = 0;

function write(response: ServerResponse, reply: Reply, model: string): void {
  const id = replies++;
  const usage = {
    input_tokens: reply.inputTokens ?? 10,
    output_tokens: 5,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const event = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const message = {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  event("message_start", { message });
  const parts: readonly (Call | string)[] = [...(reply.text === "" ? [] : [reply.text]), ...reply.calls];
  for (const [index, part] of parts.entries()) {
    const isText = typeof part === "string";
    const content_block = isText
      ? { type: "text", text: "" }
      : { type: "tool_use", id: `toolu_${id}_${index}`, name: part.name, input: {} };
    const delta = isText
      ? { type: "text_delta", text: part }
      : { type: "input_json_delta", partial_json: JSON.stringify(part.input) };
    event("content_block_start", { index, content_block });
    event("content_block_delta", { index, delta });
    event("content_block_stop", { index });
  }
  const stop_reason = reply.calls.length > 0 ? "tool_use" : "end_turn";
  event("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 5 } });
  event("message_stop", {});
  response.end();
}
