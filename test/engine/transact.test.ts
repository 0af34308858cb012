import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import type { EventBase } from "../../scripts/core/kind.ts";
import { NO_SUM, ORIGIN, sealLine } from "../../scripts/core/line.ts";
import { EnvironmentFailure, ok } from "../../scripts/core/result.ts";
import { type Load, loadRun, type RunFolder } from "../../scripts/engine/ledger.ts";
import { appendLine, readLog } from "../../scripts/engine/log.ts";
import { conclude } from "../../scripts/engine/proceed.ts";
import { transact } from "../../scripts/engine/transact.ts";
import type { ChangeState } from "../../scripts/kinds/change/state.ts";
import { replaceFile, syncFolder } from "../../scripts/platform/files.ts";
import type { FileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { NO_LUCK } from "../support/disk-nodes.ts";
import { failing, faultyFileSystem } from "../support/faulty-fs.ts";
import { bornEvent, claimedEvent, goneOwner, type LineSpec, RUN, sealedLog } from "../support/ledger.ts";
import { type MemoryDisk, memoryDisk } from "../support/memory-disk.ts";
import { bornRun, note, smallEngine } from "../support/small-run.ts";

const root = "/project";

interface World {
  readonly disk: MemoryDisk;
  readonly run: RunFolder;
}

function world(): World {
  const disk = memoryDisk();
  disk.fs.mkdirSync(root);
  syncFolder(disk.fs, "/");
  return { disk, run: bornRun(smallEngine(disk.fs), root) };
}

function add(fs: FileSystem, run: RunFolder, why: string) {
  return transact(smallEngine(fs), run, () => ok([note(why)]));
}

/** What every `note` of the log says, in order. */
function notesOf(fs: FileSystem, run: RunFolder): readonly string[] {
  const read = readLog<EventBase & { readonly why?: string }>(fs, run.ledger, ORIGIN);
  if (read === null || "bad" in read) throw new Error("no log");
  return read.chain.lines.flatMap((line) =>
    line.seq === 1 ? [] : line.events.flatMap((event) => (event.why === undefined ? [] : [event.why])),
  );
}

/** Whoever reads next: the loaded run, or the code it cannot be read by. */
function loaded(fs: FileSystem, run: RunFolder) {
  const read = loadRun(fs, run);
  return read.ok ? (read.loaded as typeof read.loaded & { readonly state: ChangeState }) : read.unreadable.code;
}

/** Runs `before` ahead of each write to the log, as another process could. */
function interrupted(disk: MemoryDisk, before: () => void, times: number): FileSystem {
  let left = times;
  return faultyFileSystem(disk.fs, ({ name, path }) => {
    if (name === "writeSync" && path.endsWith("log.jsonl") && left > 0) {
      left -= 1;
      before();
    }
    return null;
  });
}

describe("one decision", () => {
  test("is one line with all of its events, folded before it is told", () => {
    const { disk, run } = world();
    const done = transact(smallEngine(disk.fs), run, () => ok([note("one"), note("two")]));
    expect(done).toMatchObject({ ok: true, value: { recorded: true, loaded: { tip: { seq: 2 } } } });
    expect(notesOf(disk.fs, run)).toEqual(["one", "two"]);
    expect(done.ok && done.value.loaded).toEqual(loaded(disk.fs, run));
  });

  test("to record nothing writes nothing", () => {
    const { disk, run } = world();
    const fs = faultyFileSystem(disk.fs, () => null);
    expect(transact(smallEngine(fs), run, () => ok(null))).toMatchObject({ ok: true, value: { recorded: false } });
    expect(fs.calls.filter((call) => call.name === "writeSync")).toEqual([]);
  });

  test("that no legal history allows is never written", () => {
    const { disk, run } = world();
    const again = claimedEvent(goneOwner(), 1);
    expect(() => transact(smallEngine(disk.fs), run, () => ok([again]))).toThrow(/not legal/);
    expect(() => transact(smallEngine(disk.fs), run, () => ok([{ ...again, owner: "x" }]))).toThrow(/odd field owner/);
    expect(() => transact(smallEngine(disk.fs), run, () => ok([{ type: "braided" }]))).toThrow(/no shape/);
    expect(loaded(disk.fs, run)).toMatchObject({ tip: { seq: 1 } });
  });
});

describe("a lost race", () => {
  test("decides again on what the winner wrote, and writes nothing twice", () => {
    const { disk, run } = world();
    const fs = interrupted(disk, () => add(disk.fs, run, "theirs"), 1);
    const seen: (readonly string[])[] = [];
    const done = transact(smallEngine(fs), run, () => {
      seen.push(notesOf(disk.fs, run));
      return ok([note("ours")]);
    });
    expect(done).toMatchObject({ ok: true, value: { recorded: true, loaded: { tip: { seq: 3 } } } });
    expect(seen).toEqual([[], ["theirs"]]);
    expect(notesOf(disk.fs, run)).toEqual(["theirs", "ours"]);
  });

  test("that settles the matter records nothing more", () => {
    const { disk, run } = world();
    const fs = interrupted(disk, () => add(disk.fs, run, "theirs"), 1);
    const done = transact(smallEngine(fs), run, () => ok(notesOf(disk.fs, run).length > 0 ? null : [note("ours")]));
    expect(done).toMatchObject({ ok: true, value: { recorded: false } });
    expect(notesOf(disk.fs, run)).toEqual(["theirs"]);
  });

  test("two hundred times over is refused as ledger.contended, and nothing of ours stands", () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const { disk, run } = world();
    let rivals = 0;
    let { tip } = (loadRun(disk.fs, run) as Extract<Load, { ok: true }>).loaded;
    const rival = () => {
      rivals += 1;
      const by = { verb: "rival", pid: 1, session: null, epoch: 1 };
      const body = { v: 1, seq: tip.seq + 1, prev: tip.sum, ts: "t", run_id: run.id, by };
      const line = sealLine({ ...body, events: [note(`rival ${rivals}`)] }, sha256);
      const won = appendLine(disk.fs, run.ledger, tip, { ...line, last: false });
      tip = (won as { readonly won: typeof tip }).won;
    };
    const fs = interrupted(disk, rival, 1000);
    expect(add(fs, run, "ours")).toMatchObject({ ok: false, error: { code: "ledger.contended" } });
    vi.restoreAllMocks();
    expect(rivals).toBe(200);
    expect(notesOf(disk.fs, run)).not.toContain("ours");
  });
});

describe("a disk that fails in the middle of a decision", () => {
  test("after the line is durable: the decision is told, for its views may be lost", () => {
    for (const view of ["snapshot.json", "state.json", ".tmp-"]) {
      const { disk, run } = world();
      const isView = ({ name, path }: { name: string; path: string }) =>
        path.includes(view) && ["openSync", "writeSync", "renameSync"].includes(name) && !path.endsWith("log.jsonl");
      const done = add(failing(disk.fs, isView, { errno: "ENOSPC" }), run, "one");
      expect(done, view).toMatchObject({ ok: true, value: { recorded: true } });
      expect(add(disk.fs, run, "two")).toMatchObject({ ok: true });
      expect(notesOf(disk.fs, run)).toEqual(["one", "two"]);
    }
  });

  test("before it: exit 4's failure, and the same decision goes through once there is space", () => {
    const { disk, run } = world();
    const full = failing(disk.fs, ({ name, path }) => name === "writeSync" && path.endsWith("log.jsonl"), {
      errno: "ENOSPC",
      afterBytes: 100,
    });
    expect(() => add(full, run, "one")).toThrow(EnvironmentFailure);
    expect(add(disk.fs, run, "one")).toMatchObject({ ok: true, value: { recorded: true } });
    expect(notesOf(disk.fs, run)).toEqual(["one"]);
  });

  test("the power away behind any of ten decisions, with any luck: each one told is there", () => {
    const { disk, run } = world();
    const [numbers] = fc.sample(fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })), 1);
    const random = () => numbers!.next().value as number;
    for (let at = 1; at <= 10; at += 1) {
      add(disk.fs, run, `${at}`);
      for (let turn = 0; turn < 20; turn += 1) {
        const luck = {
          entry: () => random() < 0.5,
          bytes: (_path: string, young: number) => Math.floor(random() * young),
        };
        const after = disk.afterPowerLoss(turn === 0 ? NO_LUCK : luck);
        expect(notesOf(after.fs, run)).toEqual(Array.from({ length: at }, (_value, index) => `${index + 1}`));
        expect(loaded(after.fs, run)).toMatchObject({ tip: { seq: at + 1 } });
      }
    }
  });
});

test("no instruction rests on a line that another process wrote and nobody synced", () => {
  const { disk, run } = world();
  const engine = smallEngine(disk.fs);
  const unsynced = faultyFileSystem(disk.fs, () => null);
  const other = { ...unsynced, fsyncSync: () => {} };
  transact(smallEngine(other, "other"), run, () => ok([note("theirs")]));
  expect(notesOf(disk.afterPowerLoss().fs, run)).toEqual([]);
  const read = loadRun(disk.fs, run);
  if (!read.ok) throw new Error(read.unreadable.reason);
  expect(conclude(engine, read.loaded, [])).toMatchObject({ ok: true, value: { next: { do: "run" } } });
  expect(notesOf(disk.afterPowerLoss().fs, run)).toEqual(["theirs"]);
});

describe("the snapshot", () => {
  const path = (run: RunFolder) => `${run.ledger}/snapshot.json`;

  function snapshotted(): World & { readonly body: Record<string, unknown> } {
    const { disk, run } = world();
    for (const why of ["one", "two"]) add(disk.fs, run, why);
    const { self: _self, ...body } = JSON.parse(disk.text(path(run)) ?? "") as Record<string, unknown>;
    return { disk, run, body };
  }

  /** A snapshot whose own hash is right, whatever else it says. */
  function write({ disk, run }: World, body: unknown, self?: string): void {
    const text = JSON.stringify(body);
    replaceFile(disk.fs, path(run), `${text.slice(0, -1)},"self":"${self ?? sha256(text)}"}`, false);
  }

  const marked = (body: Record<string, unknown>) => ({
    ...body,
    state: { ...(body.state as object), losses: ["from the snapshot"] },
  });

  test("that can be believed is what the fold goes on from", () => {
    const here = snapshotted();
    write(here, marked(here.body));
    expect(loaded(here.disk.fs, here.run)).toMatchObject({ state: { losses: ["from the snapshot"] } });
    add(here.disk.fs, here.run, "three");
    expect(loaded(here.disk.fs, here.run)).toMatchObject({ tip: { seq: 4 }, state: { losses: ["from the snapshot"] } });
    expect(loadRun(here.disk.fs, here.run, false)).toMatchObject({ loaded: { state: { losses: [] } } });
  });

  test.each<[string, (here: ReturnType<typeof snapshotted>) => void]>([
    ["a wrong hash of itself", (here) => write(here, marked(here.body), "0".repeat(64))],
    ["another version of its form", (here) => write(here, { ...marked(here.body), v: 99 })],
    ["another version of the kind", (here) => write(here, { ...marked(here.body), version: 99 })],
    ["a kind that is not known", (here) => write(here, { ...marked(here.body), kind: "braid" })],
    ["another line before its place", (here) => write(here, { ...marked(here.body), log_bytes: 100 })],
    ["a place behind the end", (here) => write(here, { ...marked(here.body), log_bytes: 1e9 })],
    ["a place that is no number", (here) => write(here, { ...marked(here.body), log_bytes: "7" })],
    ["a place below zero", (here) => write(here, { ...marked(here.body), log_bytes: -5 })],
    ["no state", (here) => write(here, { ...here.body, state: null })],
    ["no headline", (here) => write(here, { ...here.body, headline: 7 })],
    ["the shape of a list", (here) => write(here, [1, 2])],
    ["nothing in it", (here) => replaceFile(here.disk.fs, path(here.run), "", false)],
    ["NULs", (here) => replaceFile(here.disk.fs, path(here.run), Buffer.alloc(1000), false)],
    ["been torn", (here) => replaceFile(here.disk.fs, path(here.run), JSON.stringify(here.body).slice(0, 200), false)],
    ["been lost", (here) => here.disk.fs.unlinkSync(path(here.run))],
  ])("that has %s is passed over: the fold begins at the first line", (_name, spoil) => {
    const here = snapshotted();
    const before = loadRun(here.disk.fs, here.run, false);
    spoil(here);
    expect(loadRun(here.disk.fs, here.run)).toEqual(before);
    add(here.disk.fs, here.run, "three");
    expect(notesOf(here.disk.fs, here.run)).toEqual(["one", "two", "three"]);
    expect(loaded(here.disk.fs, here.run)).toMatchObject({ tip: { seq: 4 }, state: { losses: [] } });
  });

  test("beyond the log's end means that the end was lost: ledger.tail_lost, and the bytes stay", () => {
    const { disk, run } = snapshotted();
    const log = `${run.ledger}/log.jsonl`;
    const lines = (disk.text(log) ?? "").split("\n\n");
    const cut = `${lines.slice(0, -1).join("\n\n")}\n`;
    replaceFile(disk.fs, log, cut, false);
    expect(loaded(disk.fs, run)).toBe("ledger.tail_lost");
    expect(add(disk.fs, run, "three")).toMatchObject({ ok: false, error: { code: "ledger.tail_lost" } });
    expect(disk.text(log)).toBe(cut);
  });

  test("whose line is spoilt, at the very end of the log: ledger.tail_lost", () => {
    const { disk, run } = snapshotted();
    const log = `${run.ledger}/log.jsonl`;
    replaceFile(disk.fs, log, (disk.text(log) ?? "").replace('"two"', '"owt"'), false);
    expect(loaded(disk.fs, run)).toBe("ledger.tail_lost");
  });

  test("whose line is another one now: ledger.tail_lost, however long the log is", () => {
    const { disk, run } = snapshotted();
    const kept = disk.text(path(run)) ?? "";
    const log = `${run.ledger}/log.jsonl`;
    const first = `${(disk.text(log) ?? "").split("\n\n")[0]}\n`;
    replaceFile(disk.fs, log, first, false);
    disk.fs.unlinkSync(path(run));
    for (const why of ["other", "lines", "since"]) add(disk.fs, run, why);
    replaceFile(disk.fs, path(run), kept, false);
    const before = disk.text(log);
    expect(loaded(disk.fs, run)).toBe("ledger.tail_lost");
    expect(disk.text(log)).toBe(before);
  });

  test("behind which a lost race lands late is no rot", () => {
    const { disk, run } = world();
    const fs = interrupted(disk, () => add(disk.fs, run, "theirs"), 1);
    add(fs, run, "ours");
    const read = readLog<EventBase>(disk.fs, run.ledger, ORIGIN);
    if (read === null || "bad" in read) throw new Error("no log");
    const late = read.chain.lines[1]!;
    const { sum: _sum, ...body } = late;
    const { text } = sealLine({ ...body, prev: read.chain.lines[0]!.sum, ts: "late" }, sha256);
    const log = `${run.ledger}/log.jsonl`;
    replaceFile(disk.fs, log, `${disk.text(log)}\n${text}\n`, false);
    expect(loaded(disk.fs, run)).toMatchObject({ tip: { seq: 3 } });
    expect(add(disk.fs, run, "after")).toMatchObject({ ok: true, value: { recorded: true } });
    expect(notesOf(disk.fs, run)).toEqual(["theirs", "ours", "after"]);
  });
});

describe("a lost race that lands behind the snapshot", () => {
  /** Lines of writers that decided on these ones come to the disk only now; `rotten`: and line 2 is spoilt. */
  function longRun(lines: number, late: readonly number[], rotten: boolean): World {
    const here = world();
    for (let at = 1; at <= lines; at += 1) add(here.disk.fs, here.run, `${at}`);
    const read = readLog<EventBase>(here.disk.fs, here.run.ledger, ORIGIN);
    if (read === null || "bad" in read) throw new Error("no log");
    const texts = late.map((seq) => {
      const { sum: _sum, ...body } = read.chain.lines[seq]!;
      return `\n${sealLine({ ...body, ts: "late" }, sha256).text}\n`;
    });
    const log = `${here.run.ledger}/log.jsonl`;
    const whole = here.disk.text(log) ?? "";
    const bytes = (rotten ? whole.replace('"why":"1"', '"why":"0"') : whole) + texts.join("");
    replaceFile(here.disk.fs, log, bytes, false);
    return here;
  }

  test("is told from rot by the lines before it alone: nobody folds from the first line for it", () => {
    const { disk, run } = longRun(40, [40, 35, 20], true);
    expect(loaded(disk.fs, run)).toMatchObject({ tip: { seq: 41 } });
    expect(loadRun(disk.fs, run, false)).toMatchObject({ unreadable: { code: "ledger.chain_broken" } });
    expect(add(disk.fs, run, "after")).toMatchObject({ ok: true, value: { recorded: true } });
  });

  test("so late that the line it followed is far away, is looked for from the first line on", () => {
    const { disk, run } = longRun(400, [2], false);
    expect(loaded(disk.fs, run)).toMatchObject({ tip: { seq: 401 } });
    const rotten = longRun(400, [3], true);
    expect(loaded(rotten.disk.fs, rotten.run)).toBe("ledger.chain_broken");
  });
});

describe("the views", () => {
  test("edited or spoiled, change nothing, and the next line writes them anew", () => {
    const { disk, run } = world();
    add(disk.fs, run, "one");
    const view = `${run.ledger}/state.json`;
    const before = loaded(disk.fs, run);
    for (const text of ['{"current_state":"OUTPUT"}', "", "\0\0", "[".repeat(100_000)]) {
      replaceFile(disk.fs, view, text, false);
      expect(loaded(disk.fs, run)).toEqual(before);
    }
    add(disk.fs, run, "two");
    expect(JSON.parse(disk.text(view) ?? "")).toMatchObject({ run_id: RUN, kind: "change", current_state: "INIT" });
  });
});

describe("a sealed line that cannot be folded names itself", () => {
  function ledgerOf(specs: readonly LineSpec[], id: string = RUN): World {
    const { disk, run } = world();
    replaceFile(disk.fs, `${run.ledger}/log.jsonl`, sealedLog(id, specs), false);
    return { disk, run };
  }
  const birth: readonly LineSpec[] = [{ events: [bornEvent("change")] }, { events: [claimedEvent(goneOwner())] }];

  test.each<[string, readonly LineSpec[], string]>([
    ["an event out of its place", [...birth, { events: [{ type: "stage", stage: "CODED" }] }], "ledger.illegal"],
    [
      "an event with a field of another kind",
      [...birth, { events: [{ type: "stage", stage: 7 }] }],
      "ledger.malformed",
    ],
    ["an event that lacks a field", [...birth, { events: [{ type: "opened" }] }], "ledger.malformed"],
    ["a second birth", [...birth, { events: [bornEvent("change")] }], "ledger.illegal"],
    ["a claim of an old epoch", [...birth, { events: [claimedEvent(goneOwner(), 1)] }], "ledger.illegal"],
    ["no birth", [{ events: [claimedEvent(goneOwner())] }], "ledger.illegal"],
    ["an event this release does not know", [...birth, { events: [{ type: "braided" }] }], "ledger.newer"],
    ["a kind this release does not know", [{ events: [bornEvent("braid")] }], "ledger.newer"],
    [
      "a claim of a newer version",
      [birth[0]!, { events: [{ ...claimedEvent(goneOwner()), version: 2 }] }],
      "ledger.newer",
    ],
    ["a newer form of line", [...birth, { v: 2, events: [{ type: "stage" }] }], "ledger.newer"],
    ["no line at all", [], "ledger.empty"],
  ])("%s", (_name, specs, code) => {
    const { disk, run } = ledgerOf(specs);
    const before = disk.text(`${run.ledger}/log.jsonl`);
    expect(loaded(disk.fs, run)).toBe(code);
    expect(add(disk.fs, run, "more")).toMatchObject({ ok: false, error: { code } });
    expect(disk.text(`${run.ledger}/log.jsonl`)).toBe(before);
  });

  test("of another run", () => {
    const { disk, run } = ledgerOf(birth, "20261130t190000z-ffffff");
    expect(loaded(disk.fs, run)).toBe("ledger.foreign_id");
  });

  test("of another run in the middle, unless the run was forked there", () => {
    const whole = sealedLog(RUN, birth);
    const { disk, run } = ledgerOf(birth);
    const sum = /"sum":"([0-9a-f]{64})"\}\n$/.exec(whole)?.[1] ?? NO_SUM;
    const body = { v: 1, seq: 3, prev: sum, ts: "t", run_id: "another" };
    const by = { verb: "test", pid: 1, session: null, epoch: 1 };
    const line = sealLine({ ...body, by, events: [note("x")] }, sha256);
    replaceFile(disk.fs, `${run.ledger}/log.jsonl`, `${whole}\n${line.text}\n`, false);
    expect(loaded(disk.fs, run)).toBe("ledger.foreign_id");
    const forked = { type: "forked", from: RUN, at: 2, id: "another" };
    const fork = sealLine({ ...body, by, events: [forked] }, sha256);
    replaceFile(disk.fs, `${run.ledger}/log.jsonl`, `${whole}\n${fork.text}\n`, false);
    expect(loaded(disk.fs, { ...run, id: "another" as RunFolder["id"] })).toMatchObject({ tip: { seq: 3 } });
    expect(loaded(disk.fs, run)).toBe("ledger.foreign_id");
  });

  test("that follows nothing we accepted is rot: where it stands is said", () => {
    const { disk, run } = world();
    for (const why of ["one", "two"]) add(disk.fs, run, why);
    const log = `${run.ledger}/log.jsonl`;
    replaceFile(disk.fs, log, (disk.text(log) ?? "").replace('"one"', '"eno"'), false);
    // The snapshot still stands on the last line; a diagnosis folds from the first.
    expect(loadRun(disk.fs, run, false)).toMatchObject({
      ok: false,
      unreadable: {
        code: "ledger.chain_broken",
        lastGoodSeq: 1,
        reason: expect.stringMatching(/byte \d+, after line 1/),
      },
    });
  });
});
