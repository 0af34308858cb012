/** The real Claude Code, offline: its model is the test's own. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inject, onTestFinished } from "vitest";
import { mockClaude } from "../../support/mock-claude.ts";
import type { MockModel, Reply, Respond } from "../../support/mock-model.ts";
import type { Hands } from "../../support/obeying-agent.ts";
import { obey } from "../../support/obeying-model.ts";
import type { ClaudeVersion } from "./install.ts";
import { type HostProcess, startProcess, type World } from "./world.ts";

const apiKey = "sk-ant-dummy";

export const claudeHands: Hands = {
  bash: (command) => ({ name: "Bash", input: { command, description: "Follow the instruction" } }),
  read: (file_path) => ({ name: "Read", input: { file_path } }),
  write: (file_path, content) => ({ name: "Write", input: { file_path, content } }),
  // The newer version starts agents in the background where it may.
  agent: (subagent_type, prompt) => ({
    name: "Agent",
    input: { subagent_type, prompt, description: "A slot", run_in_background: false },
  }),
  ask: ({ question, options }) => ({
    name: "AskUserQuestion",
    input: { questions: [{ question, header: "Gate", multiSelect: false, options }] },
  }),
};

/** A model that obeys; `before` may answer in its place, or keep it waiting. */
export async function claudeModel(
  before: ((asked: Parameters<Respond>[0]) => Reply | Promise<Reply | null> | null) | null = null,
  hands: Hands = claudeHands,
): Promise<MockModel> {
  const model = await mockClaude(async (asked) => (await before?.(asked)) ?? obey(asked, hands));
  onTestFinished(() => model.close());
  return model;
}

export interface Claude {
  /** One of the two that are tested, or a program of another one. */
  readonly version: ClaudeVersion | { readonly program: string };
  readonly world: World;
  readonly model: MockModel;
}

function configFolder(world: World): string {
  return join(world.root, "claude");
}

export function claudeEnv({ world, model }: Pick<Claude, "world" | "model">): Record<string, string> {
  return {
    ...world.env,
    CLAUDE_CONFIG_DIR: configFolder(world),
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: apiKey,
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // The older version's switch; the newer one has `--autocompact`.
    CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000",
  };
}

export function claudeProgram(version: Claude["version"]): string {
  return typeof version === "string" ? inject("clients").claude[version] : version.program;
}

/** `claude -p`: one prompt and everything that follows from it. */
export function runClaude(claude: Claude, prompt: string, more: readonly string[] = []): HostProcess {
  return startProcess([...words(claude), ...more, "-p", prompt], claude.world.project, claudeEnv(claude));
}

export interface Talk {
  readonly host: HostProcess;
  /** One prompt; resolves when its turn is over. */
  readonly say: (prompt: string) => Promise<void>;
}

/** One process that takes prompt after prompt. */
export function talkToClaude(claude: Claude, more: readonly string[] = []): Talk {
  const streams = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
  const host = startProcess([...words(claude), ...more, ...streams], claude.world.project, claudeEnv(claude), true);
  let turns = 0;
  return {
    host,
    async say(prompt) {
      turns += 1;
      host.type(`${JSON.stringify({ type: "user", message: { role: "user", content: prompt } })}\n`);
      await host.until((printed) => printed.split('"type":"result"').length > turns);
    },
  };
}

export interface ShownQuestion {
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

/** One prompt to a client that has a person at its side: `human` answers each question the client puts to him. */
export function runClaudeWithHuman(
  claude: Claude,
  prompt: string,
  human: (shown: ShownQuestion) => string,
): HostProcess {
  const streams = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
  const more = ["-p", ...streams, "--permission-prompt-tool", "stdio"];
  const host = startProcess([...words(claude), ...more], claude.world.project, claudeEnv(claude), true);
  const say = (message: object): void => host.type(`${JSON.stringify(message)}\n`);
  const done = new Set<string>();
  const look = (printed: string): boolean => {
    for (const line of printed.split("\n").slice(0, -1)) {
      const { type, request_id: id, request } = JSON.parse(line) as ControlRequest;
      if (type === "result") return true;
      if (type !== "control_request" || done.has(id)) continue;
      done.add(id);
      const [shown] = request.input.questions;
      const answers = { [shown.question]: human(shown) };
      const response = { behavior: "allow", updatedInput: { ...request.input, answers } };
      say({ type: "control_response", response: { subtype: "success", request_id: id, response } });
    }
    return false;
  };
  say({ type: "user", message: { role: "user", content: prompt } });
  host.until(look, 100_000).then(host.closeInput, host.closeInput);
  return host;
}

interface ControlRequest {
  readonly type: string;
  readonly request_id: string;
  readonly request: { readonly input: { readonly questions: readonly [ShownQuestion] } };
}

function words({ version, world }: Claude): readonly string[] {
  return [claudeProgram(version), "--plugin-dir", world.plugin, "--allowedTools", "Bash,Read,Write,Agent,Skill"];
}

export interface Screen {
  /** Types a line and presses Return, again and again until `seen`: the screen may not be ready for the first ones. */
  readonly enter: (line: string, seen: () => boolean) => Promise<void>;
}

/** The interactive client on a terminal of its own. */
export async function openClaude(claude: Claude): Promise<Screen> {
  const { world } = claude;
  const env = { ...claudeEnv(claude), TERM: "xterm-256color", SHELL: "/bin/sh" };
  // With nothing set up it asks questions, and looks for a server of its own first.
  mkdirSync(configFolder(world), { recursive: true });
  writeFileSync(join(configFolder(world), ".claude.json"), JSON.stringify(setUp(world.project)));
  const pidFile = join(world.root, "claude.pid");
  // Its default here would ask a server of its own about each command.
  const quoted = [...words(claude), "--permission-mode", "default"].map((word) => `'${word}'`);
  const command = `stty rows 50 cols 160; echo $$ >'${pidFile}'; exec ${quoted.join(" ")}`;
  const terminal = startProcess(["script", "-qefc", command, "/dev/null"], world.project, env, true);
  onTestFinished(() => {
    try {
      process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
    } catch {
      // It has ended with its terminal.
    }
  });
  await terminal.until((printed) => printed.includes("❯"));
  return {
    async enter(line, seen) {
      terminal.type(line);
      const end = Date.now() + 30_000;
      while (!seen()) {
        if (Date.now() > end) throw new Error(`nothing came of ${line}: ${terminal.printed().slice(-2000)}`);
        await sleep(300);
        if (!seen()) terminal.type("\r");
      }
    },
  };
}

function setUp(project: string) {
  return {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: [apiKey.slice(-20)], rejected: [] },
    projects: { [project]: { hasTrustDialogAccepted: true } },
  };
}
