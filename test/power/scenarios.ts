/** What is done when the power goes: whole runs, and what people do besides. */

import { bear, makePlace } from "../../scripts/engine/birth.ts";
import { RUN } from "../support/ledger.ts";
import { newRun } from "../support/small-run.ts";
import { begin, follow, idOf, packetOf, toldOf, toTheEnd } from "./person.ts";
import { acknowledge } from "./power-check.ts";
import type { Scenario } from "./power-cut.ts";
import { lay, mended, project } from "./power-world.ts";

const noCommand = packetOf("");

export const scenarios: readonly Scenario[] = [
  {
    name: "a run in the user's own tree, without git",
    git: false,
    async act(sit) {
      const on = sit(1);
      await toTheEnd(on, await begin(on, false, noCommand));
    },
  },
  {
    name: "a run in a tree of its own",
    git: true,
    async act(sit) {
      const on = sit(1);
      await toTheEnd(on, await begin(on, true, noCommand));
    },
  },
  {
    name: "a host that died over half the work, and the next one",
    git: true,
    async act(sit) {
      const on = sit(1);
      const told = await toTheEnd(on, await begin(on, true, noCommand), {}, atCoder);
      lay(on.disk, `${treeOf(told.next)}/src/half.js`, "half of it\n");
      const later = sit(2);
      const { next } = toldOf(await later.run("resume"));
      if (next.do !== "dispatch") throw new Error(`nobody works: ${next.do}`);
    },
  },
  {
    name: "abandon and clean",
    git: true,
    async act(sit) {
      const on = sit(1);
      const told = await toTheEnd(on, await begin(on, true, noCommand), {}, atCoder);
      lay(on.disk, mended(treeOf(told.next)).path, "half\n");
      await on.run("abandon", "--run", idOf(told));
      await on.run("clean");
    },
  },
  {
    name: "fork",
    git: true,
    async act(sit) {
      const on = sit(1);
      const told = await toTheEnd(on, await begin(on, true, noCommand), {}, atCritics);
      const lines = acknowledge(on.disk).lines.get(idOf(told))?.length;
      toldOf(await on.run("fork", "--run", idOf(told), "--at", String(lines)));
    },
  },
  {
    name: "a birth alone",
    git: false,
    async act(sit) {
      const on = sit(1);
      const engine = on.engine("start");
      bear(engine, newRun(engine, project, makePlace(on.fs, project), RUN, ""));
      // Whoever looks now may speak of it.
      on.hook("SessionStart", { source: "startup" });
    },
  },
  {
    name: "a session that ends, and the next one",
    git: false,
    async act(sit) {
      const on = sit(1);
      const told = await begin(on, false, noCommand);
      on.hook("SessionEnd", { reason: "clear" });
      const later = sit(2);
      await follow(later, toldOf(await later.run("resume", "--run", idOf(told))));
    },
  },
];

function atCoder(next: { readonly do: string; readonly agents?: readonly { readonly slot: string }[] }): boolean {
  return next.do === "dispatch" && next.agents?.[0]?.slot === "coder";
}

function atCritics(next: { readonly do: string; readonly agents?: readonly { readonly slot: string }[] }): boolean {
  return next.do === "dispatch" && next.agents?.[0]?.slot === "correctness";
}

function treeOf(next: unknown): string {
  const { packet } = (next as { readonly agents: readonly { readonly packet: string; readonly lease: string }[] })
    .agents[0] as {
    readonly packet: string;
    readonly lease: string;
  };
  return `${packet.slice(0, packet.indexOf("/packets/"))}/worktree/e1.1`;
}
