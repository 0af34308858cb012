import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LINE_VERSION, LOG_BYTES_MAX, readChain, sealLine } from "../../scripts/core/line.ts";
import { loadRun, type RunFolder, writeSnapshot } from "../../scripts/engine/ledger.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { HOOK_LOG_BYTES_MAX } from "../../scripts/platform/peek.ts";
import { RUN } from "../support/ledger.ts";
import { bornRun, smallEngine } from "../support/small-run.ts";
import { heard, keptPlugin, makeWorld, payloadOf, runHook, type World } from "./host-world.ts";

let plugin: Awaited<ReturnType<typeof keptPlugin>>;
beforeAll(async () => {
  plugin = await keptPlugin();
});
afterAll(() => plugin.remove());

const session = "session-long";

interface LongRun {
  readonly world: World;
  readonly folder: RunFolder;
  readonly log: string;
  readonly snapshot: string;
}

/** A run of this process whose log is longer than a hook reads, as the engine wrote its first line. */
function longRun(): LongRun {
  const world = makeWorld();
  const folder = bornRun(smallEngine(realFileSystem, "long"), world.project);
  const log = join(folder.ledger, "log.jsonl");
  grow({ log, lines: 20 });
  expect(statSync(log).size).toBeGreaterThan(HOOK_LOG_BYTES_MAX);
  keep(folder);
  return { world, folder, log, snapshot: join(folder.ledger, "snapshot.json") };
}

/** Appends real lines of nearly the greatest length. */
function grow({ log, lines }: { log: string; lines: number }): void {
  let { tip } = readChain(readFileSync(log), sha256);
  for (let count = 0; count < lines; count += 1) {
    const { text, sum } = sealLine(
      {
        v: LINE_VERSION,
        seq: tip.seq + 1,
        prev: tip.sum,
        ts: "2026-11-30T20:00:00.000Z",
        run_id: RUN,
        by: { verb: "x".repeat(60_000), pid: 1, session: null, epoch: 1 },
        events: [{ type: "gas-granted", amount: 0, why: "gate" }],
      },
      sha256,
    );
    appendFileSync(log, `\n${text}\n`);
    tip = { seq: tip.seq + 1, sum, offset: 0 };
  }
}

function lastLineOf(log: string): string {
  return readFileSync(log, "utf8").trimEnd().split("\n").at(-1) as string;
}

function keep(folder: RunFolder): void {
  const load = loadRun(realFileSystem, folder, false);
  if (!load.ok) throw new Error(load.unreadable.reason);
  writeSnapshot(realFileSystem, load.loaded);
}

function said(world: World): string | null {
  const payload = payloadOf("claude", "SessionStart", world, { session_id: session, source: "startup" });
  const answer = runHook(plugin, world, "claude", "SessionStart", payload);
  expect({ code: answer.code, stderr: answer.stderr }).toEqual({ code: 0, stderr: "" });
  expect(answer.ms).toBeLessThan(2000);
  return heard("claude", "SessionStart", answer);
}

function end(world: World): void {
  const payload = payloadOf("claude", "SessionEnd", world, { session_id: session, reason: "other" });
  expect(runHook(plugin, world, "claude", "SessionEnd", payload)).toMatchObject({ code: 0, stdout: "", stderr: "" });
}

function isReleased(folder: RunFolder): boolean {
  const load = loadRun(realFileSystem, folder, false);
  if (!load.ok) throw new Error(load.unreadable.reason);
  return load.loaded.state.head.released;
}

const known = `atlas: unfinished run. kind=change run=${RUN} stage=INIT refine=0/2 done=1/8 owner=ours`;
const unknown = `run=${RUN} stage=unknown`;

describe("a log longer than a hook reads", () => {
  test("is told from its snapshot, and a session's end still releases it", () => {
    const { world, folder } = longRun();
    expect(said(world)).toContain(known);
    end(world);
    expect(isReleased(folder)).toBe(true);
    expect(said(world)).toContain("owner=released");
  });

  test("is told with the lines behind an older snapshot, lost races and torn ends among them", () => {
    const { world, folder, log } = longRun();
    grow({ log, lines: 1 });
    const late = lastLineOf(log);
    grow({ log, lines: 1 });
    appendFileSync(log, `\n${late}\n{"v":1,"seq":`);
    expect(said(world)).toContain("stage=INIT");
    end(world);
    expect(isReleased(folder)).toBe(true);
  });

  test("an agent's answer is taken in like any other run's", () => {
    const { world, folder } = longRun();
    mkdirSync(join(folder.ledger, "results"));
    const lease = { lease: "scout#1@1", slot: "scout", role: "context-scout", epoch: 1 };
    writeFileSync(join(folder.ledger, "results", "scout.1.1.lease"), JSON.stringify(lease));
    const stop = { agent_type: "atlas:context-scout", last_assistant_message: `done\nLEASE ${RUN} scout#1@1` };
    const payload = payloadOf("claude", "SubagentStop", world, { session_id: session, ...stop });
    runHook(plugin, world, "claude", "SubagentStop", payload);
    expect(readFileSync(join(folder.ledger, "results", "scout.1.1.out"), "utf8")).toBe("done");
  });

  const lies: readonly (readonly [string, (run: LongRun) => void])[] = [
    ["no snapshot", ({ snapshot }) => rmSync(snapshot)],
    ["a snapshot far behind", ({ log }) => grow({ log, lines: 20 })],
    ["a snapshot of lines the log has lost", ({ log }) => truncateSync(log, statSync(log).size - 60_000)],
    ["a snapshot that is not JSON", ({ snapshot }) => writeFileSync(snapshot, '{"v":1,"headline":{,"state":{}}')],
    // From behind the snapshot it cannot be told from rot.
    ["a lost race of before the snapshot", (run) => appendFileSync(run.log, `\n${lastLineOf(run.log)}\n`)],
    ["another sum", (run) => lie(run, { sum: "0".repeat(64) })],
    ["another place", (run) => lie(run, { log_bytes: 100 })],
    ["a place beyond the end", (run) => lie(run, { log_bytes: 2 ** 40 })],
    ["a headline that is prose", (run) => lie(run, { headline: "IGNORE ALL" })],
    ["passes that are prose", (run) => lie(run, {}, { refinePasses: "IGNORE ALL" })],
    ["a head that is none", (run) => lie(run, {}, { head: { kind: "change", epoch: "IGNORE ALL" } })],
  ];

  test.each(lies)("%s: its stage is unknown, nothing of it is said, and nothing is written", (_name, prepare) => {
    const run = longRun();
    prepare(run);
    const before = readFileSync(run.log);
    const text = said(run.world);
    expect(text).toContain(unknown);
    expect(text).not.toContain("IGNORE");
    end(run.world);
    expect(readFileSync(run.log).equals(before)).toBe(true);
  });

  test("a line whose bytes do not hash to its sum is not followed by one of ours", () => {
    const { world, log } = longRun();
    grow({ log, lines: 1 });
    const text = readFileSync(log, "latin1");
    const at = text.lastIndexOf("xx");
    const damaged = `${text.slice(0, at)}y${text.slice(at + 1)}`;
    writeFileSync(log, damaged, "latin1");
    expect(said(world)).toContain("stage=INIT");
    end(world);
    expect(readFileSync(log, "latin1")).toBe(damaged);
  });
});

test.each([
  ["more than any log may have", LOG_BYTES_MAX + 1],
  ["two hundred megabytes", 200_000_000],
])("a log of %s is unreadable, not something to resume", (_name, bytes) => {
  const { world, log } = longRun();
  truncateSync(log, bytes);
  const text = said(world);
  expect(text).toBe(`atlas: run ${RUN} is unreadable (ledger.too_large); atlas doctor explains.`);
});

function lie({ snapshot }: LongRun, change: Record<string, unknown>, headline: Record<string, unknown> = {}): void {
  const value = JSON.parse(readFileSync(snapshot, "utf8")) as { headline: Record<string, unknown> };
  writeFileSync(snapshot, JSON.stringify({ ...value, headline: { ...value.headline, ...headline }, ...change }));
}
