/**
 * A model server of the test's own on 127.0.0.1: it keeps every request and answers what `respond` says. The two
 * protocols (mock-claude.ts, mock-kimi.ts) read a request into a `Conversation` and write a `Reply` back.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One thing said, in the order the model sees it. */
export type Spoken =
  | { readonly by: "host"; readonly from: "user" | "system" | "tool"; readonly text: string }
  | { readonly by: "model"; readonly text: string; readonly calls: readonly Call[] };

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What one request shows the model. */
export interface Conversation {
  readonly spoken: readonly Spoken[];
  readonly system: string;
  readonly tools: readonly string[];
  /** The request's own body as text: every byte the model could see. */
  readonly body: string;
}

export interface Reply {
  readonly text: string;
  readonly calls: readonly Call[];
  /** What the server reports as used up, when the host shall compact. */
  readonly inputTokens?: number;
}

export interface Protocol {
  /** null: no question to the model. */
  readonly read: (path: string, body: string) => Conversation | null;
  readonly write: (response: ServerResponse, reply: Reply, model: string) => void;
}

export interface MockModel {
  readonly url: string;
  readonly port: number;
  /** Every question so far, in order. */
  readonly asked: readonly Conversation[];
  /** The first question that passes, past or to come; rejects after `waitMs` (20,000 by default). */
  readonly until: (passes: (asked: Conversation) => boolean, waitMs?: number) => Promise<Conversation>;
  readonly close: () => Promise<void>;
}

export type Respond = (asked: Conversation) => Reply | Promise<Reply>;

export function say(text: string, inputTokens?: number): Reply {
  return { text, calls: [], ...(inputTokens === undefined ? {} : { inputTokens }) };
}

/** Starts the server on a free port. */
export async function serveModel(protocol: Protocol, respond: Respond): Promise<MockModel> {
  const asked: Conversation[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      console.error("the mock model failed:", error);
      response.destroy();
    });
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const question = request.method === "POST" ? protocol.read(request.url ?? "", body) : null;
    if (question === null) {
      response.writeHead(request.method === "POST" ? 404 : 200).end("{}");
      return;
    }
    asked.push(question);
    for (const wake of waiting) wake();
    const reply = await respond(question);
    if (!response.destroyed) protocol.write(response, reply, String((JSON.parse(body) as { model?: unknown }).model));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    until: (passes, waitMs = 20_000) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = asked.find(passes);
          if (found === undefined) return;
          done();
          resolve(found);
        };
        const timer = setTimeout(() => {
          done();
          reject(new Error(`no such question among ${asked.length} within ${waitMs} ms`));
        }, waitMs);
        const done = (): void => {
          clearTimeout(timer);
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

/** All the host has said in a request, one piece a line. */
export function heard(asked: Conversation): string {
  return asked.spoken.map((spoken) => (spoken.by === "host" ? spoken.text : "")).join("\n");
}
