/** Two lives of runs that between them type every command that writes and fire every event of a host. */
import type { Dispatch } from "../../scripts/core/kind.ts";
import { begin, request, type Script, scripted, type Told } from "../support/scripted-run.ts";
import { markingAgents, workHalf } from "./agents-work.ts";
import type { CrashWorld } from "./crash-world.ts";
import { underHost } from "./kill.ts";
import { readRuns } from "./read-runs.ts";
import { atAgent, never } from "./scenario.ts";
import type { Striker } from "./striker.ts";

export interface Life {
  readonly name: string;
  readonly live: (world: CrashWorld, striker: Striker) => Promise<void>;
  /** Leases that may come to nothing: what a killed hook had to say is lost with it. */
  readonly wastedMax: number;
}

const coderOf = (told: Told): Dispatch => (told.next as Extract<Told["next"], { do: "dispatch" }>).agents[0];

/** Nobody is asked; its first owner dies while the coder writes; a fork of it is given up. */
async function unattended(world: CrashWorld, striker: Striker): Promise<void> {
  const agents = markingAgents(world);
  await underHost(async (host) => {
    const first = striker.sit(host);
    const begun = await begin(first, request, "--headless");
    workHalf(coderOf(await scripted(first, { agents }).go(begun, atAgent("coder"))));
  });
  const session = striker.sit();
  await toReport(await scripted(session, { agents }).go(await session.run("resume"), never));
  const [run] = readRuns(world);
  const line = run?.lines.find((one) => one.events.some((event) => event.type === "filled" && event.slot === "plan"));
  await session.run("fork", "--run", String(run?.id), "--at", String(line?.seq));
  await session.run("abandon", "--run", String(readRuns(world).at(-1)?.id));
  await session.run("clean");
}

/** Every gate is asked, and a host's hooks fire; in the middle its context is cleared. */
async function attended(world: CrashWorld, striker: Striker): Promise<void> {
  const agents = markingAgents(world);
  const script: Script = { agents, hooks: "claude", words: "success: 1 and 2 make 3\n", gates: { output: "discard" } };
  const session = striker.sit();
  await session.hook("claude", "SessionStart", { source: "startup" });
  const { success_criteria: _, ...packet } = request;
  await scripted(session, script).go(await begin(session, packet), atAgent("coder"));
  await session.hook("claude", "PostCompact", { trigger: "manual" });
  await session.hook("claude", "Stop", { stop_hook_active: false });
  await session.hook("claude", "SessionEnd", { reason: "clear" });
  await session.hook("claude", "SessionStart", { source: "clear" });
  await toReport(await scripted(session, script).go(await session.run("resume"), never));
}

async function toReport(told: Told): Promise<void> {
  if (told.next.do !== "report") throw new Error(`the run stops at ${JSON.stringify(told.next)}`);
}

export const lives: readonly Life[] = [
  { name: "unattended", live: unattended, wastedMax: 1 },
  { name: "attended", live: attended, wastedMax: 3 },
];
