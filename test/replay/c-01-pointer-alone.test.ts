import { expect, test } from "vitest";
import { commandIn, handedOut, heardBy, idOf, installed, seat, shipped, typeInShell } from "../support/replay.ts";
import { logBytes } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

const product = shipped();

test.each(["claude", "kimi"] as const)(
  "C-01 %s: after a compaction the injected text alone names run, step and command, forbids redoing, and is enough",
  async (host) => {
    const world = { ...product.world(), plugin: installed(product, tempFolder()) };
    const owner = await seat(world, 1, { name: host });
    const told = await handedOut(owner.session, "scout");
    if (host === "kimi") await owner.session.hook("kimi", "PostCompact", { trigger: "auto" });
    const said =
      host === "claude"
        ? await owner.session.hook("claude", "SessionStart", { source: "compact" })
        : await owner.session.hook("kimi", "UserPromptSubmit", { prompt: "go on" });
    const text = heardBy(host, said) as string;
    expect(text.length).toBeLessThanOrEqual(1000);
    expect(text).toContain(`run=${idOf(told)} stage=TRIAGED refine=0/2 done=3/8`);
    expect(text).toContain("Never redo finished stages");

    const before = logBytes(world);
    const typed = await typeInShell(world, commandIn(text), { seat: owner });
    expect(typed.stdout, typed.stderr).toContain("do: dispatch 1 agent");
    expect(typed.stdout).toContain(`LEASE ${idOf(told)} scout#1@1`);
    expect(logBytes(world)).toBe(before);
  },
);
