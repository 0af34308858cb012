/** Claude Code's Stop: a turn does not end while the session's own run waits for its model. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LineSpec, ownerOf, RUN, sealedLog, writeOwnRun } from "../support/ledger.ts";
import { keptPlugin, makeWorld, payloadOf, runHook, snapshotOf, type World } from "./host-world.ts";

let plugin: Awaited<ReturnType<typeof keptPlugin>>;
beforeAll(async () => {
  plugin = await keptPlugin();
});
afterAll(() => plugin.remove());

const uuid = "11111111-2222-4333-8444-555555555555";
const own = { stages: ["INIT", "INTENT_CAPTURED"], owner: ownerOf(process.pid, uuid) };

function stop(world: World, added: Record<string, unknown> = {}, env: Record<string, string> = {}) {
  const payload = { stop_hook_active: false, last_assistant_message: "Done.", background_tasks: [], ...added };
  return runHook(plugin, world, "claude", "Stop", payloadOf("claude", "Stop", world, payload), env);
}

function blocked(world: World, added: Record<string, unknown> = {}): string | null {
  const answer = stop(world, added);
  expect(answer).toMatchObject({ code: 0, stderr: "" });
  if (answer.stdout === "") return null;
  const said = JSON.parse(answer.stdout) as { readonly decision: unknown; readonly reason: string };
  expect(Object.keys(said)).toEqual(["decision", "reason"]);
  expect(said.decision).toBe("block");
  return said.reason;
}

/** Adds lines behind those of `log`. */
function goOn(log: string, ...added: readonly LineSpec["events"][]): void {
  const specs = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LineSpec);
  writeFileSync(log, sealedLog(RUN, [...specs, ...added.map((events) => ({ events }))]));
}

const asked = { type: "asked", gate: "pre-code", nonce: "0123abcd", options: ["approve"] };
const answered = { type: "answered", gate: "pre-code", nonce: "0123abcd", choice: "approve", grade: "host" };
const reason = [
  `atlas: run ${RUN} is not over, and its next step is yours.`,
  `Now run: atlas resume --run ${RUN}`,
  "Then do only what it prints. If the user told you to stop, say so and stop.",
].join("\n");

describe("a turn's end", () => {
  test("is held up with the next command while the session's own run waits for its model, once a line", () => {
    const world = makeWorld();
    const { log } = writeOwnRun(world.atlas, own);
    expect(blocked(world)).toBe(reason);
    expect(blocked(world, { stop_hook_active: true })).toBeNull();
    expect(blocked(world)).toBeNull();
    goOn(log, [{ type: "stage-completed" }]);
    expect(blocked(world, { stop_hook_active: true })).toBe(reason);
    expect(blocked(world, { stop_hook_active: true })).toBeNull();
  });

  test("is let pass while a question waits for the human, and held up once it is answered", () => {
    const world = makeWorld();
    const { log } = writeOwnRun(world.atlas, own);
    goOn(log, [asked]);
    expect(blocked(world)).toBeNull();
    goOn(log, [answered]);
    expect(blocked(world)).toBe(reason);
    goOn(log, [asked], [{ type: "rolled-back", tree: "t" }]);
    expect(blocked(world)).toBe(reason);
  });

  test.each<[string, (world: World) => void]>([
    ["a run that is finished", (world) => writeOwnRun(world.atlas, { ...own, ended: true })],
    ["a run it has released", (world) => writeOwnRun(world.atlas, { ...own, released: true })],
    ["a run whose owner is gone", (world) => writeOwnRun(world.atlas, { stages: own.stages })],
    ["a run nobody claimed", (world) => writeOwnRun(world.atlas, { ...own, owner: null })],
    [
      "another session's run in this process",
      (world) => writeOwnRun(world.atlas, { ...own, owner: ownerOf(process.pid, "another") }),
    ],
    [
      "its own run in another process",
      (world) => writeOwnRun(world.atlas, { ...own, owner: ownerOf(process.ppid, uuid) }),
    ],
    ["a run of a kind that hands out nothing yet", (world) => writeOwnRun(world.atlas, { ...own, kind: "weave" })],
    ["no run", () => {}],
    [
      "a broken ledger",
      (world) => {
        const { log } = writeOwnRun(world.atlas, own);
        const lines = readFileSync(log, "utf8")
          .split("\n")
          .filter((line) => line !== "");
        writeFileSync(log, `${lines[0]}\n${lines[2]}\n`);
      },
    ],
  ])("is let pass by %s", (_name, make) => {
    const world = makeWorld();
    make(world);
    const before = snapshotOf(world.atlas);
    expect(blocked(world)).toBeNull();
    expect(snapshotOf(world.atlas)).toEqual(before);
  });

  test("of an agent is none of ours", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas, own);
    expect(blocked(world, { agent_id: "a1" })).toBeNull();
  });

  test.each([undefined, "", "../x"])("with the session id %j is refused before anything is read", (session_id) => {
    const world = makeWorld();
    writeOwnRun(world.atlas, own);
    const answer = stop(world, { session_id });
    expect([answer.code, answer.stdout]).toEqual([1, ""]);
    expect(answer.stderr).toContain("ATLAS-PRECONDITION-FAILED");
  });

  test("is let pass where it cannot be remembered: it would be held up for ever", () => {
    const world = makeWorld();
    writeOwnRun(world.atlas, own);
    writeFileSync(join(world.home, "state"), "a file in the way");
    expect(blocked(world)).toBeNull();
    expect(stop(world, {}, { HOME: "", XDG_STATE_HOME: "" }).stdout).toBe("");
    rmSync(join(world.home, "state"));
    expect(blocked(world)).toBe(reason);
  });

  test("is let pass where the ledger is not a file", () => {
    const world = makeWorld();
    const { log } = writeOwnRun(world.atlas, own);
    rmSync(log);
    expect(blocked(world)).toBeNull();
  });

  test("on Kimi Code is never held up: it ends in agents as well", () => {
    const world = makeWorld();
    const session = `session_${uuid}`;
    writeOwnRun(world.atlas, { ...own, owner: ownerOf(process.pid, session, "kimi") });
    const answer = runHook(plugin, world, "kimi", "Stop", payloadOf("kimi", "Stop", world));
    expect(answer).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });
});
