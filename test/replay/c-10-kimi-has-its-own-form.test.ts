import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Reply } from "../../scripts/hosts/event.ts";
import { kimi } from "../../scripts/hosts/kimi.ts";
import { writeOwnRun } from "../support/ledger.ts";
import { heardBy, shipped } from "../support/replay.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { sit } from "../support/scripted-run.ts";

const product = shipped();
const payloads = (host: string) => {
  const folder = join(repositoryRoot, "test", "fixtures", "hook-stdin", host);
  return readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Record<string, unknown>,
  );
};

test("C-10: on Kimi Code nothing is said in a form that only Claude Code reads, whichever host's payload comes in", () => {
  const pointer: Reply = { say: "pointer", text: "atlas: unfinished run." };
  const said = new Map<string, string>();
  for (const payload of [...payloads("kimi-code"), ...payloads("claude-code")]) {
    const on = String(payload.hook_event_name);
    const event = kimi.read(on, payload);
    if (event === null) continue;
    said.set(on, kimi.write(event, pointer).stdout);
    expect(kimi.write(event, { say: "nothing" })).toEqual({ stdout: "", stderr: "", exit: 0 });
  }
  expect(said.get("UserPromptSubmit")).toBe(`${pointer.text}\n`);
  said.delete("UserPromptSubmit");
  expect(said.size).toBeGreaterThan(3);
  expect([...said.values()].filter((text) => text !== "")).toEqual([]);
});

test("C-10: what Kimi Code throws away at a start and after a compaction reaches the model by the session's skill and the next prompt", async () => {
  const manifest = JSON.parse(readFileSync(join(repositoryRoot, ".kimi-plugin", "plugin.json"), "utf8"));
  expect(manifest.sessionStart).toEqual({ skill: "atlas-resume" });
  const world = product.world();
  writeOwnRun(join(world.project, ".atlas"));
  const session = sit(world, { session: "session_11111111-2222-4333-8444-555555555555" });
  for (const on of ["SessionStart", "PostCompact"]) {
    expect((await session.hook("kimi", on, { source: "startup", trigger: "auto" })).stdout).toBe("");
  }
  const prompt = await session.hook("kimi", "UserPromptSubmit", { prompt: "go on" });
  expect(heardBy("kimi", prompt)).toMatch(/^atlas: unfinished run\./);
});
