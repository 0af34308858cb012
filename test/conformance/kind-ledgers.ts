/** One unfinished run of each kind on disk: what probes that need no further agents begin with. */
import { startHost } from "../support/host-process.ts";
import { begin, type Plugin, request, scripted, sessionId, sit, type Told } from "../support/scripted-run.ts";
import type { Kind } from "./cells.ts";
import { makeStage, type Stage } from "./stage.ts";

export interface Left {
  readonly stage: Stage;
  readonly id: string;
  /** What its last owner was told. */
  readonly told: Told;
}

export const originals: Readonly<Record<Kind, string | null>> = {
  change: null,
  "adopted change": "single-03-triaged",
  "adopted graph": "graph-006-nodes",
};

/** Its owner: the calling process; a host that is dead; or one that released it and is dead. */
export type Leaving = "owned" | "gone" | "released";

/** A change, ours or adopted, has its scout out or, `atGate`, its plan to be approved. The stage is kept as it is then. */
export async function leftBehind(plugin: Plugin, kind: Kind, leaving: Leaving, atGate = false): Promise<Left> {
  const stage = makeStage(plugin, originals[kind]);
  const host = leaving === "owned" ? null : startHost();
  const session = sit(stage.world, host === null ? {} : { host, session: sessionId(1) });
  if (leaving === "released") await session.hook("claude", "SessionStart", { source: "startup" });
  const form = atGate ? [] : ["--headless"];
  const first = kind === "change" ? await begin(session, request, ...form) : await session.run("resume");
  const told = await scripted(session).go(first, (next) => next.do === (atGate ? "ask" : "dispatch"));
  if (leaving === "released") await session.hook("claude", "SessionEnd", { reason: "clear" });
  await host?.kill();
  stage.keep();
  return { stage, id: (told.json.run as { readonly id: string }).id, told };
}
