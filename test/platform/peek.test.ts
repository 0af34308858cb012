import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RunId } from "../../scripts/core/ids.ts";
import type { Owner } from "../../scripts/core/owner.ts";
import { CHANGE_STAGES, WEAVE_STAGES } from "../../scripts/core/stage-names.ts";
import { type FileSystem, realFileSystem } from "../../scripts/platform/fs.ts";
import {
  HOOK_LOG_BYTES_MAX,
  HOOK_PLACE_BYTES_MAX,
  peekRun,
  peekUnfinished,
  unfinishedIds,
} from "../../scripts/platform/peek.ts";
import { progressOf, spokenKind, spokenStage } from "../../scripts/platform/spoken.ts";
import { expectedOf, worlds, worldsFolder } from "../support/kimi-atlas.ts";
import { bornEvent, claimedEvent, goneOwner, RUN, sealedLog, writeOwnRun } from "../support/ledger.ts";
import { tempFolder } from "../support/temp.ts";

const uid = process.getuid?.() ?? null;

function atlasFolder(): string {
  const atlas = join(tempFolder(), ".atlas");
  mkdirSync(atlas);
  return atlas;
}

function peek(atlas: string, id = RUN) {
  return peekRun(realFileSystem, atlas, id as RunId, uid);
}

describe("an own run", () => {
  test("is told from its lines: stage, passes, progress, owner, tip", () => {
    const atlas = atlasFolder();
    const owner = goneOwner();
    const stages = ["INIT", "INTENT_CAPTURED", "TRIAGED", "GROUNDED", "CODED", "VERIFIED", "REFINE", "CODED"];
    const { folder, log } = writeOwnRun(atlas, { stages, owner });
    expect(peek(atlas)).toMatchObject({
      id: RUN,
      folder,
      home: folder,
      origin: "atlas",
      kind: "change",
      stage: "CODED",
      refine: 1,
      done: 5,
      total: 8,
      terminal: false,
      owner,
      epoch: 1,
      released: false,
      unreadable: null,
      graph: false,
      trusted: true,
      ours: { log, tip: { seq: 10 } },
    });
  });

  test("released, ended and abandoned are told", () => {
    const atlas = atlasFolder();
    writeOwnRun(atlas, { released: true });
    expect(peek(atlas)?.released).toBe(true);
    writeOwnRun(atlas, { ended: true });
    expect(peek(atlas)?.terminal).toBe(true);
  });

  test("an adopted run goes on from where the original stood", () => {
    const atlas = atlasFolder();
    cpSync(join(worldsFolder, "single-08-coded", ".atlas"), atlas, { recursive: true });
    const { home } = writeOwnRun(atlas, { id: "sess-a", adopted: true });
    expect(peek(atlas, "sess-a")).toMatchObject({
      origin: "kimi-atlas",
      home,
      stage: "CODED",
      refine: 1,
      done: 5,
      total: 8,
    });
    writeOwnRun(atlas, { id: "sess-a", adopted: true, stages: ["VERIFIED", "REFINE"] });
    expect(peek(atlas, "sess-a")).toMatchObject({ stage: "REFINE", refine: 2, terminal: false });
  });

  test("a torn tail is not seen, a broken chain and a newer version are named", () => {
    const atlas = atlasFolder();
    const { log } = writeOwnRun(atlas, { stages: ["INIT", "INTENT_CAPTURED"] });
    appendFileSync(log, '\n{"v":1,"seq":5,"stage":"OUTPUT"');
    expect(peek(atlas)).toMatchObject({ stage: "INTENT_CAPTURED", unreadable: null });
    const lines = readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    writeFileSync(log, `${[lines[0], lines[2], lines[3]].join("\n")}\n`);
    expect(peek(atlas)).toMatchObject({ unreadable: "ledger.chain_broken", ours: null });
    writeFileSync(log, sealedLog(RUN, [{ events: [bornEvent("change")] }, { v: 2, events: [{ type: "x" }] }]));
    expect(peek(atlas)).toMatchObject({ unreadable: "ledger.newer", ours: null });
  });

  test("a history no run can have is named", () => {
    const atlas = atlasFolder();
    const { log } = writeOwnRun(atlas);
    writeFileSync(log, sealedLog(RUN, [{ events: [bornEvent("change")] }, { events: [bornEvent("change")] }]));
    expect(peek(atlas)).toMatchObject({ unreadable: "ledger.illegal" });
  });

  test.each([
    { pid: "../../x" },
    { pid: -1 },
    { pid: 1.5 },
    { start: 7 },
    { session: {} },
    { host: null },
    { uid: "0" },
  ])("an owner of the wrong shape is none: %j", (odd) => {
    const atlas = atlasFolder();
    const { log } = writeOwnRun(atlas);
    const owner = { ...goneOwner(), ...odd } as unknown as Owner;
    writeFileSync(log, sealedLog(RUN, [{ events: [bornEvent("change")] }, { events: [claimedEvent(owner)] }]));
    expect(peek(atlas)).toMatchObject({ owner: null, unreadable: "ledger.illegal" });
  });

  test("whose log is lost is never taken for an original's", () => {
    const atlas = atlasFolder();
    const { folder, log } = writeOwnRun(atlas);
    writeFileSync(join(folder, "state.json"), JSON.stringify({ run_id: RUN, kind: "change", current_state: "CODED" }));
    for (const bytes of ["", "\0\0\0\0", "garbage\n"]) {
      writeFileSync(log, bytes);
      expect(peek(atlas)).toMatchObject({ unreadable: "ledger.unreadable" });
    }
  });
});

describe("an original's run", () => {
  const singles = worlds.filter(
    (name) =>
      name.startsWith("single-") ||
      (name.startsWith("damaged-t") && name !== "damaged-torn-dag") ||
      name === "damaged-empty-state",
  );

  test.each(singles)("%s: stage and passes as the original itself would have them", (name) => {
    const { current_state: stage, refine_passes: refine } = expectedOf[name] ?? {};
    const atlas = join(worldsFolder, name, ".atlas");
    const [id] = unfinishedIds(realFileSystem, atlas);
    const run = peek(atlas, id);
    expect(run).toMatchObject({ origin: "kimi-atlas", home: null, owner: null, unreadable: null });
    if (name.startsWith("single-")) expect(run).toMatchObject({ stage, refine, terminal: stage === "OUTPUT" });
  });

  test("a torn line that names what state.json shows counts as that stage", () => {
    expect(peek(join(worldsFolder, "damaged-torn-log", ".atlas"), "sess-a")).toMatchObject({
      stage: "REFINE",
      refine: 1,
      done: 4,
    });
  });

  test.each([
    ["cut off", (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ["emptied", () => Buffer.alloc(0)],
    ["zeroed at its end", (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(100)])],
  ])("whose graph is %s is named unreadable; a whole one is not, whatever white space follows", (_how, damage) => {
    const atlas = atlasFolder();
    cpSync(join(worldsFolder, "graph-003-nodes", ".atlas"), atlas, { recursive: true });
    const dag = join(atlas, "sess-g", "plan.dag.json");
    appendFileSync(dag, " \r\n\n");
    expect(peek(atlas, "sess-g")).toMatchObject({ kind: "weave", unreadable: null });
    writeFileSync(dag, damage(readFileSync(dag)));
    expect(peek(atlas, "sess-g")).toMatchObject({ kind: "weave", unreadable: "dag.torn" });
    rmSync(dag);
    expect(peek(atlas, "sess-g")).toMatchObject({ unreadable: "dag.missing" });
    mkdirSync(dag);
    expect(peek(atlas, "sess-g")).toMatchObject({ unreadable: "dag.unreadable" });
  });

  test("at a stage nobody knows is named unreadable", () => {
    const atlas = atlasFolder();
    mkdirSync(join(atlas, "x"));
    writeFileSync(join(atlas, "x", "log.jsonl"), '{"stage":"INIT"}\n{"stage":"EVIL"}\n');
    expect(peek(atlas, "x")).toMatchObject({ stage: "unknown", unreadable: "adopt.unknown_stage" });
  });

  test("graphs are weaves, and a task's sub-run is no run", () => {
    const atlas = join(worldsFolder, "graph-012-nodes", ".atlas");
    const { runs } = peekUnfinished(realFileSystem, atlas, uid);
    expect(runs.map(({ id, kind, graph }) => ({ id, kind, graph }))).toEqual([
      { id: "sess-g", kind: "weave", graph: true },
    ]);
  });

  test("select-many: unfinished ones only, newest first, whatever was touched last", () => {
    const { runs } = peekUnfinished(realFileSystem, join(worldsFolder, "select-many", ".atlas"), uid);
    expect(runs.map(({ id }) => id)).toEqual(["old-graph", "new-graph", "older-single"]);
  });

  test("a byte order mark and CRLF are read over", () => {
    const atlas = atlasFolder();
    mkdirSync(join(atlas, "x"));
    writeFileSync(join(atlas, "x", "log.jsonl"), '\ufeff{"stage":"INIT"}\r\n{"stage":"INTENT_CAPTURED"}\r\n');
    expect(peek(atlas, "x")).toMatchObject({ stage: "INTENT_CAPTURED", done: 2 });
  });
});

test("a log too long for a hook is another's to read; beyond what anybody reads it is named", () => {
  const atlas = atlasFolder();
  const { log } = writeOwnRun(atlas);
  truncateSync(log, 64 * 1024 * 1024);
  expect(peek(atlas)).toMatchObject({ stage: "unknown", unreadable: null });
  truncateSync(log, 64 * 1024 * 1024 + 1);
  expect(peek(atlas)).toMatchObject({ unreadable: "ledger.too_large" });
  cpSync(join(worldsFolder, "single-05-coded", ".atlas"), atlas, { recursive: true });
  truncateSync(join(atlas, "sess-a", "log.jsonl"), 64 * 1024 * 1024 + 1);
  expect(peek(atlas, "sess-a")).toMatchObject({ stage: "CODED", unreadable: null });
  writeOwnRun(atlas, { id: "sess-a", adopted: true });
  truncateSync(join(atlas, "sess-a", "adopted", "log.jsonl"), 64 * 1024 * 1024 + 1);
  expect(peek(atlas, "sess-a")).toMatchObject({ unreadable: "ledger.too_large" });
});

describe("the list", () => {
  test("a finished marker spares a run every look", () => {
    const atlas = atlasFolder();
    const ids = Array.from({ length: 20 }, (_, at) => `20261130t190000z-0000${at.toString(16).padStart(2, "0")}`);
    for (const id of ids) writeOwnRun(atlas, { id });
    mkdirSync(join(atlas, ".finished"));
    for (const id of ids.slice(1)) writeFileSync(join(atlas, ".finished", id), "");
    const opened: string[] = [];
    const listed: string[] = [];
    const counting: FileSystem = {
      ...realFileSystem,
      openSync: (path, flags, mode) => {
        opened.push(path);
        return realFileSystem.openSync(path, flags, mode);
      },
      readdirSync: (path) => {
        listed.push(path);
        return realFileSystem.readdirSync(path);
      },
    };
    expect(peekUnfinished(counting, atlas, uid).runs.map(({ id }) => id)).toEqual(ids.slice(0, 1));
    expect(opened).toEqual([join(atlas, ids[0] as string, "log.jsonl")]);
    expect(listed).toHaveLength(2);
  });

  test("skips births, dot names, files, empty folders and names that are no id", () => {
    const atlas = atlasFolder();
    for (const name of [".new-123", ".git", "a..b", "-x", "ü"]) {
      mkdirSync(join(atlas, name));
      writeFileSync(join(atlas, name, "log.jsonl"), '{"stage":"INIT"}\n');
    }
    writeFileSync(join(atlas, "telemetry.json"), "{}");
    mkdirSync(join(atlas, "empty"));
    expect(peekUnfinished(realFileSystem, atlas, uid).runs).toEqual([]);
  });

  test("a run that is a link is named and not entered", () => {
    const atlas = atlasFolder();
    const elsewhere = join(tempFolder(), "real");
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, "log.jsonl"), '{"stage":"INIT"}\n');
    symlinkSync(elsewhere, join(atlas, "linked"));
    expect(peek(atlas, "linked")).toMatchObject({ unreadable: "ledger.linked", stage: "none" });
  });

  test("what is beyond the limit is counted, the newest are opened", () => {
    const atlas = atlasFolder();
    const ids = [1, 2, 3, 4].map((at) => `2026113${at}t190000z-000000`);
    for (const id of ids) writeOwnRun(atlas, { id });
    const { runs, unopened } = peekUnfinished(realFileSystem, atlas, uid, 2);
    expect(runs.map(({ id }) => id)).toEqual([ids[3], ids[2]]);
    expect(unopened).toBe(2);
  });

  test("another user's run is not trusted", () => {
    const atlas = atlasFolder();
    writeOwnRun(atlas);
    expect(peekRun(realFileSystem, atlas, RUN as RunId, (uid ?? 0) + 1)?.trusted).toBe(false);
  });
});

test("the words that may be said are the stages there are", () => {
  for (const stage of [...CHANGE_STAGES, ...WEAVE_STAGES]) expect(spokenStage(stage)).toBe(stage);
  expect([spokenStage("EVIL"), spokenStage(7), spokenStage(null)]).toEqual(["unknown", "unknown", "none"]);
  expect(progressOf("change", [...CHANGE_STAGES])).toEqual({ done: 8, total: 8 });
  expect(progressOf("weave", [...WEAVE_STAGES])).toEqual({ done: 6, total: 6 });
  expect(progressOf("constructor", ["x"])).toEqual({ done: 1, total: null });
  expect([spokenKind("weave"), spokenKind("toString"), spokenKind({})]).toEqual(["weave", "unknown", "unknown"]);
});

test("a place full of long logs is not read whole: what was not opened is a number", () => {
  const atlas = atlasFolder();
  const line = `${JSON.stringify({ stage: "CODED", note: "x".repeat(1000) })}\n`;
  const count = 40;
  for (let at = 0; at < count; at += 1) {
    mkdirSync(join(atlas, `run${at}`));
    writeFileSync(join(atlas, `run${at}`, "log.jsonl"), line.repeat(900));
  }
  let bytesRead = 0;
  const fs: FileSystem = {
    ...realFileSystem,
    readSync: (...words) => {
      const got = realFileSystem.readSync(...words);
      bytesRead += got;
      return got;
    },
  };
  const { runs, unopened } = peekUnfinished(fs, atlas, uid);
  expect(runs.length + unopened).toBe(count);
  expect(runs.length).toBeGreaterThan(0);
  expect(bytesRead).toBeLessThanOrEqual(HOOK_PLACE_BYTES_MAX + HOOK_LOG_BYTES_MAX);
});
