import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { LOG_BYTES_MAX, NO_SUM, ORIGIN, readChain, sealLine, type Tip } from "../../scripts/core/line.ts";
import { EnvironmentFailure } from "../../scripts/core/result.ts";
import { appendLine, LAST_LINE_BYTES, type NewLine, readLog, syncLog } from "../../scripts/engine/log.ts";
import { type FileSystem, realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { type Call, type Fault, failing, faultyFileSystem } from "../support/faulty-fs.ts";
import { type MemoryDisk, memoryDisk } from "../support/memory-disk.ts";
import { tempFolder } from "../support/temp.ts";

const folder = "/run";
const log = "/run/log.jsonl";

function seal(tip: Pick<Tip, "seq" | "sum">, text: string, last = false): NewLine {
  const body = { v: 1, seq: tip.seq + 1, prev: tip.sum, ts: "t", run_id: "r" };
  const by = { verb: "test", pid: 1, session: null, epoch: 1 };
  return { ...sealLine({ ...body, by, events: [{ type: "note", text }] }, sha256), last };
}

/** A disk whose log holds one durable line. */
function begun(): { disk: MemoryDisk; tip: Tip } {
  const disk = memoryDisk();
  disk.fs.mkdirSync(folder);
  const first = Buffer.from(`\n${seal({ seq: 0, sum: NO_SUM }, "first").text}\n`);
  const fd = disk.fs.openSync(log, 0o102);
  disk.fs.writeSync(fd, first, 0, first.length, null);
  disk.fs.fsyncSync(fd);
  disk.fs.closeSync(fd);
  for (const path of ["/", folder]) {
    const open = disk.fs.openSync(path, 0);
    disk.fs.fsyncSync(open);
    disk.fs.closeSync(open);
  }
  return { disk, tip: tipOf(disk.fs) };
}

function chainOf(fs: FileSystem) {
  const read = readLog<{ readonly type: string; readonly text: string }>(fs, folder, ORIGIN);
  if (read === null || "bad" in read) throw new Error("no log");
  return read.chain;
}

const tipOf = (fs: FileSystem): Tip => chainOf(fs).tip;
const textsOf = (fs: FileSystem): readonly string[] =>
  chainOf(fs).lines.flatMap((line) => line.events.map((event) => event.text));

function append(fs: FileSystem, tip: Tip, text: string) {
  return appendLine(fs, folder, tip, seal(tip, text));
}

/** Code and message of the environment failure; anything else thrown is a bug. */
function failed(act: () => unknown): { readonly code: string; readonly message: string } {
  try {
    act();
  } catch (error) {
    if (error instanceof EnvironmentFailure) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("it did not fail");
}

const isWrite = (call: Call): boolean => call.name === "writeSync";
const isSync = (call: Call): boolean => call.name === "fsyncSync";
/** The sync of what is written; the one before it makes sure of the line before. */
const isSyncOfWrite = (call: Call): boolean => isSync(call) && call.nth > 2;
const isOpenToWrite = (call: Call): boolean => call.name === "openSync" && call.nth === 3;

describe("an append to a healthy disk", () => {
  test("is won, and its tip is where the next one goes on", () => {
    const { disk, tip } = begun();
    const won = append(disk.fs, tip, "second");
    expect(won).toEqual({ won: tipOf(disk.fs) });
    expect(append(disk.fs, (won as { won: Tip }).won, "third")).toEqual({ won: tipOf(disk.fs) });
    expect(textsOf(disk.fs)).toEqual(["first", "second", "third"]);
  });

  test("is one open, one write, one sync before anything is read back, once the line before it is known to be synced", () => {
    const { disk, tip } = begun();
    const fs = faultyFileSystem(disk.fs, () => null);
    const { won } = append(fs, tip, "second") as { won: Tip };
    expect(fs.calls.slice(0, 3).map((call) => call.name)).toEqual(["openSync", "fsyncSync", "closeSync"]);
    const before = fs.calls.length;
    append(fs, won, "third");
    const names = fs.calls.slice(before).map((call) => call.name);
    expect(names.slice(0, 5)).toEqual(["openSync", "fstatSync", "writeSync", "fsyncSync", "closeSync"]);
    expect(names.filter((name) => name === "writeSync" || name === "fsyncSync")).toHaveLength(2);
  });

  test("told is durable: a power loss right after it loses nothing", () => {
    const { disk, tip } = begun();
    append(disk.fs, tip, "second");
    expect(textsOf(disk.afterPowerLoss().fs)).toEqual(["first", "second"]);
  });

  test("behind it the descriptor is closed, whatever happened", () => {
    const { disk, tip } = begun();
    for (const fault of [null, { errno: "ENOSPC" }, { shortBytes: 3 }] as const) {
      const fs = faultyFileSystem(disk.fs, (call) => (isWrite(call) ? fault : null));
      try {
        append(fs, tip, "x");
      } catch {
        // What it throws is another test's.
      }
      const count = (name: Call["name"]) => fs.calls.filter((call) => call.name === name).length;
      expect(count("closeSync")).toBe(count("openSync"));
    }
  });
});

describe("a disk that cannot take the line", () => {
  const limits: readonly (readonly [string, (call: Call) => boolean, string, RegExp])[] = [
    ["ENOSPC", isWrite, "disk.full", /no space left/],
    ["ENOSPC", isOpenToWrite, "disk.full", /no space left/],
    ["EDQUOT", isWrite, "disk.full", /quota/],
    ["EIO", isWrite, "disk.io", /input\/output error/],
    ["EIO", isOpenToWrite, "disk.io", /input\/output error/],
    ["EROFS", isOpenToWrite, "disk.readonly", /read-only/],
    ["EROFS", isWrite, "disk.readonly", /read-only/],
    ["EFBIG", isWrite, "disk.limit", /file-size limit/],
    ["EMFILE", isOpenToWrite, "disk.limit", /open files/],
    ["ENFILE", isOpenToWrite, "disk.limit", /open files/],
    ["EACCES", isOpenToWrite, "disk.permission", /permission denied/],
    ["EPERM", isOpenToWrite, "disk.permission", /permission denied/],
  ];

  test.each(limits)("%s: named at once by its limit and its path; the next append works", (errno, at, code, said) => {
    const { disk, tip } = begun();
    const fs = failing(disk.fs, at, { errno });
    const { code: told, message } = failed(() => append(fs, tip, "second"));
    expect(told).toBe(code);
    expect(message).toMatch(said);
    expect(message).toContain(log);
    expect(fs.calls.filter(isWrite).length).toBeLessThanOrEqual(1);
    expect(textsOf(disk.fs)).toEqual(["first"]);
    append(disk.fs, tipOf(disk.fs), "later");
    expect(textsOf(disk.fs)).toEqual(["first", "later"]);
  });

  test("full after any number of bytes: the fragment is skipped, and the run goes on once space is there", () => {
    const length = seal(begun().tip, "second").text.length + 2;
    for (let afterBytes = 0; afterBytes < length; afterBytes += 1) {
      const { disk, tip } = begun();
      const fs = failing(disk.fs, isWrite, { errno: "ENOSPC", afterBytes });
      expect(failed(() => append(fs, tip, "second")).code).toBe("disk.full");
      const now = tipOf(disk.fs);
      append(disk.fs, now, "later");
      // Nobody was told of "second"; it may stand, whole, but only as itself and once.
      expect(["first,second,later", "first,later"]).toContain(textsOf(disk.fs).join());
      expect(chainOf(disk.fs).end).toEqual({ at: "end" });
    }
  });
});

describe("a write that is cut", () => {
  test("at any byte: the whole line is written once more, never the rest", () => {
    const { text } = seal(begun().tip, "second");
    for (let shortBytes = 0; shortBytes < text.length + 2; shortBytes += 1) {
      const { disk, tip } = begun();
      const fs = failing(disk.fs, isWrite, { shortBytes }, 1);
      expect(append(fs, tip, "second")).toEqual({ won: tipOf(disk.fs) });
      const again = shortBytes >= text.length + 1 ? 1 : 2;
      expect(fs.calls.filter(isWrite)).toHaveLength(again);
      expect(textsOf(disk.afterPowerLoss().fs)).toEqual(["first", "second"]);
    }
  });

  test("twice: refused as disk.short, and the next append works", () => {
    const { disk, tip } = begun();
    const fs = failing(disk.fs, isWrite, { shortBytes: 10 });
    expect(failed(() => append(fs, tip, "second")).code).toBe("disk.short");
    expect(fs.calls.filter(isWrite)).toHaveLength(2);
    append(disk.fs, tipOf(disk.fs), "later");
    expect(textsOf(disk.fs)).toEqual(["first", "later"]);
  });

  test("by a signal: once is repeated, twice is refused", () => {
    const once = begun();
    append(failing(once.disk.fs, isWrite, { errno: "EINTR" }, 1), once.tip, "second");
    expect(textsOf(once.disk.fs)).toEqual(["first", "second"]);
    const twice = begun();
    const fs = failing(twice.disk.fs, isWrite, { errno: "EINTR" });
    expect(failed(() => append(fs, twice.tip, "second")).code).toBe("disk.short");
  });

  test("by a signal after it was taken whole: it stands once", () => {
    const { disk, tip } = begun();
    const fs = failing(disk.fs, isWrite, { errno: "EINTR", afterBytes: 1_000_000 }, 1);
    expect(append(fs, tip, "second")).toEqual({ won: tipOf(disk.fs) });
    expect(textsOf(disk.fs)).toEqual(["first", "second"]);
  });
});

describe("an fsync that fails", () => {
  test("once: the same sealed line again, on a descriptor of its own; it counts once and is durable", () => {
    const { disk, tip } = begun();
    const fs = failing(disk.fs, isSyncOfWrite, { errno: "EIO" }, 1);
    expect(append(fs, tip, "second")).toMatchObject({ won: { seq: 2 } });
    expect(fs.calls.filter((call) => call.name === "openSync").length).toBe(4);
    expect(fs.calls.filter(isWrite)).toHaveLength(2);
    expect(textsOf(disk.fs)).toEqual(["first", "second"]);
    expect(chainOf(disk.fs).noise).toBe(1);
    expect(textsOf(disk.afterPowerLoss().fs)).toEqual(["first", "second"]);
  });

  test("twice: disk.unsynced and nothing is told; the next fold decides what stands", () => {
    const { disk, tip } = begun();
    const { code, message } = failed(() => append(failing(disk.fs, isSyncOfWrite, { errno: "EIO" }), tip, "second"));
    expect(code).toBe("disk.unsynced");
    expect(message).toContain(log);
    expect(textsOf(disk.afterPowerLoss().fs)).toEqual(["first"]);
    append(disk.fs, tipOf(disk.fs), "later");
    expect(textsOf(disk.fs)).toEqual(["first", "second", "later"]);
  });

  test("when another's line is made sure of, is named: no instruction rests on it", () => {
    const { disk, tip } = begun();
    const other = Buffer.from(`\n${seal(tip, "theirs").text}\n`);
    const fd = disk.fs.openSync(log, 0o2001);
    disk.fs.writeSync(fd, other, 0, other.length, null);
    expect(textsOf(disk.afterPowerLoss().fs)).toEqual(["first"]);
    expect(failed(() => syncLog(failing(disk.fs, isSync, { errno: "EIO" }), folder)).code).toBe("disk.io");
    syncLog(disk.fs, folder);
    expect(textsOf(disk.afterPowerLoss().fs)).toEqual(["first", "theirs"]);
  });
});

describe("a race", () => {
  /** Others write through the same disk right before our own write. */
  function raced(disk: MemoryDisk, others: readonly string[]): FileSystem {
    let raced = false;
    return faultyFileSystem(disk.fs, (call) => {
      if (!isWrite(call) || raced) return null;
      raced = true;
      for (const text of others) {
        const bytes = Buffer.from(`\n${text}\n`);
        const fd = disk.fs.openSync(log, 0o2001);
        disk.fs.writeSync(fd, bytes, 0, bytes.length, null);
        disk.fs.closeSync(fd);
      }
      return null;
    });
  }

  test("whoever comes second has lost, and its line is noise", () => {
    const { disk, tip } = begun();
    expect(append(raced(disk, [seal(tip, "theirs").text]), tip, "ours")).toBe("lost");
    expect(textsOf(disk.fs)).toEqual(["first", "theirs"]);
    expect(chainOf(disk.fs).noise).toBe(1);
  });

  test("a line that lost an earlier race and lands late does not hide ours", () => {
    const { disk, tip } = begun();
    const second = append(disk.fs, tip, "second") as { won: Tip };
    const fs = raced(disk, [seal(tip, "late").text]);
    expect(append(fs, second.won, "third")).toEqual({ won: tipOf(disk.fs) });
    expect(textsOf(disk.fs)).toEqual(["first", "second", "third"]);
  });

  test("late losers and a winner together: lost", () => {
    const { disk, tip } = begun();
    const second = append(disk.fs, tip, "second") as { won: Tip };
    const fs = raced(disk, [seal(tip, "late").text, seal(second.won, "theirs").text]);
    expect(append(fs, second.won, "ours")).toBe("lost");
    expect(textsOf(disk.fs)).toEqual(["first", "second", "theirs"]);
  });

  test("a torn line of another process does not hurt ours", () => {
    const { disk, tip } = begun();
    const fs = raced(disk, [seal(tip, "theirs").text.slice(0, 60)]);
    expect(append(fs, tip, "ours")).toMatchObject({ won: { seq: 2 } });
    expect(textsOf(disk.fs)).toEqual(["first", "ours"]);
  });
});

describe("whatever call fails", () => {
  const errnos = ["ENOSPC", "EDQUOT", "EIO", "EROFS", "EFBIG", "EMFILE", "ENFILE", "EACCES", "EINTR", "ESTALE"];
  const wholeCount = (() => {
    const { disk, tip } = begun();
    const fs = faultyFileSystem(disk.fs, () => null);
    append(fs, tip, "second");
    return fs.calls.length;
  })();

  test("with whatever error, once or for ever: told is durable, untold is named, and the next append works", () => {
    for (let nth = 0; nth < wholeCount; nth += 1) {
      for (const errno of errnos) {
        for (const count of [1, Number.POSITIVE_INFINITY]) {
          const { disk, tip } = begun();
          const isMeant = (call: Call) => call.nth >= nth && !(errno === "EINTR" && call.name === "readSync");
          const what = `${errno} at call ${nth}, ${count}x`;
          let told = false;
          try {
            told = append(failing(disk.fs, isMeant, { errno }, count), tip, "second") !== "lost";
          } catch (error) {
            expect(error, what).toBeInstanceOf(EnvironmentFailure);
            expect((error as Error).message, what).toContain(folder);
          }
          if (told) expect(textsOf(disk.afterPowerLoss().fs), what).toEqual(["first", "second"]);
          append(disk.fs, tipOf(disk.fs), "later");
          expect(["first,second,later", "first,later"], what).toContain(textsOf(disk.fs).join());
        }
      }
    }
  });

  test("a signal while reading back costs nothing", () => {
    const { disk, tip } = begun();
    const fs = failing(disk.fs, (call) => call.name === "readSync", { errno: "EINTR" }, 3);
    expect(append(fs, tip, "second")).toMatchObject({ won: { seq: 2 } });
  });

  test("whatever the power takes of what was not synced: every told line is there, in order, and none twice", () => {
    const faults: readonly (Fault | null)[] = [null, null, { errno: "EIO" }, { shortBytes: 40 }, { errno: "EINTR" }];
    const plan = fc.array(fc.tuple(fc.constantFrom(...faults), fc.constantFrom("writeSync", "fsyncSync")), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(plan, fc.infiniteStream(fc.nat(400)), (steps, numbers) => {
        const { disk } = begun();
        const told: string[] = ["first"];
        for (const [at, [fault, name]] of steps.entries()) {
          const fs = fault === null ? disk.fs : failing(disk.fs, (call) => call.name === name, fault, 1);
          const text = `line ${at}`;
          try {
            append(fs, tipOf(disk.fs), text);
            told.push(text);
          } catch {
            // Not told.
          }
        }
        const luck = {
          entry: () => (numbers.next().value as number) % 2 === 0,
          bytes: (_path: string, young: number) => (numbers.next().value as number) % (young + 1),
        };
        const after = disk.afterPowerLoss(luck).fs;
        const stands = textsOf(after);
        expect(stands.filter((text) => told.includes(text))).toEqual(told);
        expect(new Set(stands).size).toBe(stands.length);
        append(after, tipOf(after), "afterwards");
        expect(textsOf(after)).toEqual([...stands, "afterwards"]);
      }),
    );
  });
});

describe("limits", () => {
  function grownLog(bytes: number): { readonly run: string; readonly tip: Tip } {
    const run = tempFolder();
    const path = join(run, "log.jsonl");
    writeFileSync(path, `\n${seal(ORIGIN, "first").text}\n`);
    const { tip } = readChain(readFileSync(path), sha256);
    truncateSync(path, bytes);
    return { run, tip };
  }

  test("a full ledger is named by its limit, and one line that ends the run still fits", () => {
    const { run, tip } = grownLog(LOG_BYTES_MAX - LAST_LINE_BYTES);
    const one = seal(tip, "more");
    const { code, message } = failed(() => appendLine(realFileSystem, run, tip, one));
    expect(code).toBe("disk.limit");
    expect(message).toContain(String(LOG_BYTES_MAX));
    expect(appendLine(realFileSystem, run, tip, { ...one, last: true })).toMatchObject({ won: { seq: 2 } });
  });

  test("a line above 64 KiB is never written", () => {
    const { disk, tip } = begun();
    expect(() => append(disk.fs, tip, "x".repeat(65_536))).toThrow(/ledger line of/);
    expect(textsOf(disk.fs)).toEqual(["first"]);
  });

  test.each([
    ["a link", (path: string) => symlinkSync(join(path, "..", "other"), path)],
    ["a folder", (path: string) => mkdirSync(path)],
    ["a FIFO nobody reads", (path: string) => execFileSync("mkfifo", [path])],
  ])("nothing is written over or through %s", (_name, make) => {
    const run = tempFolder();
    writeFileSync(join(run, "other"), "theirs");
    make(join(run, "log.jsonl"));
    expect(failed(() => appendLine(realFileSystem, run, ORIGIN, seal(ORIGIN, "x"))).message).toContain("log.jsonl");
    expect(readFileSync(join(run, "other"), "utf8")).toBe("theirs");
  });

  test("a FIFO that somebody reads is no ledger", () => {
    const run = tempFolder();
    execFileSync("mkfifo", [join(run, "log.jsonl")]);
    const reader = openSync(join(run, "log.jsonl"), constants.O_RDONLY | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(reader));
    expect(failed(() => appendLine(realFileSystem, run, ORIGIN, seal(ORIGIN, "x"))).code).toBe("ledger.gone");
    expect(readSync(reader, Buffer.alloc(10))).toBe(0);
  });
});
