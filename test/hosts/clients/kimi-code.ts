/** The real Kimi Code, offline: its model is the test's own. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { mockKimi } from "../../support/mock-kimi.ts";
import type { MockModel, Reply, Respond } from "../../support/mock-model.ts";
import type { Hands } from "../../support/obeying-agent.ts";
import { obey } from "../../support/obeying-model.ts";
import { type HostProcess, startProcess, type World } from "./world.ts";

export const kimiHands: Hands = {
  bash: (command) => ({ name: "Bash", input: { command } }),
  read: (path) => ({ name: "Read", input: { path } }),
  write: (path, content) => ({ name: "Write", input: { path, content } }),
  agent: (subagent_type, prompt) => ({ name: "Agent", input: { subagent_type, prompt, description: "A slot" } }),
};

/** A model that obeys; `before` may answer in its place, or keep it waiting. */
export async function kimiModel(
  before: (asked: Parameters<Respond>[0]) => Reply | Promise<Reply | null> | null = () => null,
): Promise<MockModel> {
  const model = await mockKimi(async (asked) => (await before(asked)) ?? obey(asked, kimiHands));
  onTestFinished(() => model.close());
  return model;
}

export interface Kimi {
  readonly world: World;
  readonly model: MockModel;
}

/** `kimi -p`: one prompt and everything that follows from it. */
export function runKimi(kimi: Kimi, prompt: string, more: readonly string[] = []): HostProcess {
  return startProcess([...inject("clients").kimi, ...more, "-p", prompt], kimi.world.project, setUp(kimi));
}

export interface KimiWeb {
  readonly host: HostProcess;
  readonly get: (path: string) => Promise<unknown>;
  readonly post: (path: string, body: object) => Promise<unknown>;
  /** A new session in the project, its model chosen; its id. */
  readonly open: () => Promise<string>;
}

/** `kimi web`: one server process, many sessions. */
export async function serveKimi(kimi: Kimi): Promise<KimiWeb> {
  const words = ["web", "--no-open", "--dangerous-bypass-auth", "--port", "0"];
  const host = startProcess([...inject("clients").kimi, ...words], kimi.world.project, setUp(kimi));
  const shown = /http:\/\/(?:127\.0\.0\.1|localhost):(\d+)/;
  await host.until((printed) => shown.test(printed));
  const base = `http://127.0.0.1:${shown.exec(host.printed())?.[1]}/api/v1`;
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as unknown;
  };
  const post = (path: string, body: object) => ask("POST", path, body);
  return {
    host,
    get: (path) => ask("GET", path),
    post,
    async open() {
      const made = await post("/sessions", { metadata: { cwd: kimi.world.project } });
      const id = /session_[0-9a-f-]{36}/.exec(JSON.stringify(made))?.[0] ?? "";
      await post(`/sessions/${id}/profile`, { agent_config: { model: "mock", permission_mode: "auto" } });
      return id;
    },
  };
}

/** Settings that name the model and the plugin; the environment that goes with them. */
function setUp({ world, model }: Kimi): Record<string, string> {
  const home = join(world.root, "kimi");
  const { plugin: root } = world;
  const at = "2026-01-01T00:00:00.000Z";
  const record = {
    id: "atlas",
    root,
    source: "local-path",
    enabled: true,
    installedAt: at,
    updatedAt: at,
    originalSource: root,
  };
  mkdirSync(join(home, "plugins"), { recursive: true });
  writeFileSync(join(home, "plugins", "installed.json"), JSON.stringify({ version: 1, plugins: [record] }));
  writeFileSync(join(home, "config.toml"), settings(model.url));
  return { ...world.env, KIMI_CODE_HOME: home, KIMI_DISABLE_TELEMETRY: "1", KIMI_CODE_NO_AUTO_UPDATE: "1" };
}

function settings(url: string): string {
  return `default_model = "mock"
telemetry = false

[providers.mock]
type = "kimi"
base_url = "${url}/v1"
api_key = "dummy"

[models.mock]
provider = "mock"
model = "mock-1"
max_context_size = 262144
capabilities = ["tool_use"]
`;
}
