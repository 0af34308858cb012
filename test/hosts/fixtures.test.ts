import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isSpeakableId } from "../../scripts/core/ids.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { readSession } from "../../scripts/platform/sessions.ts";
import { RUN, writeOwnRun } from "../support/ledger.ts";
import {
  capturedPayloads,
  type HostName,
  heard,
  keptPlugin,
  makeWorld,
  payloadOf,
  runHook,
  snapshotOf,
  useKimiAtlasWorld,
} from "./host-world.ts";

let plugin: Awaited<ReturnType<typeof keptPlugin>>;
beforeAll(async () => {
  plugin = await keptPlugin();
});
afterAll(() => plugin.remove());

const stages = ["INIT", "INTENT_CAPTURED", "TRIAGED", "GROUNDED", "CODED", "VERIFIED", "REFINE", "CODED"];
const facts = `atlas: unfinished run. kind=change run=${RUN} stage=CODED refine=1/2 done=5/8 owner=gone`;
const closing = "Then do only what it prints. Never redo finished stages; state is on disk, not in this conversation.";

describe.each(["claude", "kimi"] as const)("every captured payload of %s", (host: HostName) => {
  test("gets an answer that host can use, with one unfinished run", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas, { stages });
    for (const payload of capturedPayloads(host, world.project)) {
      const answer = runHook(plugin, world, host, payload.on, payload.text);
      expect({ name: payload.name, code: answer.code, stderr: answer.stderr }).toEqual({
        name: payload.name,
        code: 0,
        stderr: "",
      });
      const text = heard(host, payload.on, answer);
      // No command has shown that a start was heard: the first prompt says it again.
      const spoken = ["SessionStart", "PostCompact", "UserPromptSubmit"].includes(payload.on);
      if (host === "claude" && spoken) {
        expect(text?.split("\n")).toEqual(
          [facts, `Now run: atlas resume --run ${RUN}`, closing].slice(0, payload.on === "PostCompact" ? 2 : 3),
        );
      } else if (host === "kimi" && payload.on === "UserPromptSubmit") {
        // The captured sessions compact (postcompact-auto) before they prompt: names are in alphabetical order.
        expect(text?.split("\n")).toEqual([
          facts,
          `Now run: node "${plugin.root}/dist/atlas.cjs" resume --run ${RUN} --session ${sessionOf(payload.text)}`,
          closing,
        ]);
      } else expect({ name: payload.name, stdout: answer.stdout }).toEqual({ name: payload.name, stdout: "" });
    }
  });

  test("gets silence where there is no .atlas, and a session's start is recorded all the same", () => {
    const world = makeWorld();
    for (const payload of capturedPayloads(host, world.project)) {
      const answer = runHook(plugin, world, host, payload.on, payload.text);
      expect({ name: payload.name, ...answer, ms: 0 }).toEqual({
        name: payload.name,
        code: 0,
        stdout: "",
        stderr: "",
        ms: 0,
      });
      if (payload.on !== "SessionStart") continue;
      const record = readSession(realFileSystem, world.state, sessionOf(payload.text));
      expect(record).toMatchObject({ host, cwd: world.project, pid: process.pid, ended: false, runs: [] });
    }
    expect(existsSync(world.atlas)).toBe(false);
  });

  test("changes no byte of an original's run", () => {
    const world = makeWorld();
    useKimiAtlasWorld(world, "single-05-coded");
    const before = snapshotOf(world.atlas);
    for (const payload of capturedPayloads(host, world.project)) {
      expect(runHook(plugin, world, host, payload.on, payload.text).code).toBe(0);
    }
    expect(snapshotOf(world.atlas)).toEqual(before);
  });
});

describe("the originals' worlds at a session's start", () => {
  test.each([
    ["single-01-init", "kind=change run=# stage=INIT refine=0/2 done=1/8 owner=none"],
    ["single-07-refine", "kind=change run=# stage=REFINE refine=1/2 done=4/8 owner=none"],
    ["single-08-coded", "kind=change run=# stage=CODED refine=1/2 done=5/8 owner=none"],
    ["graph-003-nodes", "kind=weave run=# stage=SCHEDULE done=3/6 owner=none"],
    ["damaged-truncated-state", "kind=change run=# stage="],
    ["damaged-empty-state", "kind=change run=# stage="],
    ["damaged-torn-log", "kind=change run=# stage=REFINE refine=1/2 done=4/8 owner=none"],
  ])("%s: the stage is the log's, the id only its hash", (name, said) => {
    const world = makeWorld();
    useKimiAtlasWorld(world, name);
    const answer = runHook(plugin, world, "claude", "SessionStart", payloadOf("claude", "SessionStart", world));
    const text = heard("claude", "SessionStart", answer) ?? "";
    expect(text.replace(/#[0-9a-f]{8}/g, "#")).toContain(`atlas: unfinished run. ${said}`);
    expect(text).not.toMatch(/sess-|json flag|stage=(none|unknown)/);
  });

  test("single-10-output: a finished run is not spoken of", () => {
    const world = makeWorld();
    useKimiAtlasWorld(world, "single-10-output");
    expect(runHook(plugin, world, "claude", "SessionStart", payloadOf("claude", "SessionStart", world)).stdout).toBe(
      "",
    );
  });

  test("select-many: graphs first, then the other, and the user is asked; a task's sub-run is never listed", () => {
    const world = makeWorld();
    useKimiAtlasWorld(world, "select-many");
    const text = heard(
      "claude",
      "SessionStart",
      runHook(plugin, world, "claude", "SessionStart", payloadOf("claude", "SessionStart", world)),
    );
    const lines = text?.split("\n") ?? [];
    expect(lines[0]).toBe("atlas: 3 unfinished runs, newest first:");
    expect(lines.slice(1, 4).map((line) => line.split(" ")[0])).toEqual(["kind=weave", "kind=weave", "kind=change"]);
    expect(lines[4]).toBe("ask the user which, then run: atlas resume --run 'ID'");
  });

  test("select-many: the session's own run is the one it goes on with", () => {
    const world = makeWorld();
    useKimiAtlasWorld(world, "select-many");
    const payload = payloadOf("claude", "SessionStart", world, { session_id: "old-graph" });
    const text = heard("claude", "SessionStart", runHook(plugin, world, "claude", "SessionStart", payload));
    expect(text).toMatch(/^atlas: unfinished run\. kind=weave run=#[0-9a-f]{8} stage=SCHEDULE/);
  });
});

function sessionOf(text: string): string {
  const id = (JSON.parse(text) as { session_id: string }).session_id;
  expect(isSpeakableId(id)).toBe(true);
  return id;
}

test("the entry bundle stays within what a hook may load, and holds no package", () => {
  expect(plugin.bytes).toBeLessThanOrEqual(60_000);
  expect(readFileSync(join(plugin.root, "dist", "atlas.cjs"), "utf8")).not.toMatch(/require\("(?!node:)/);
});
