import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EnvironmentFailure } from "../../scripts/core/result.ts";
import {
  createExclusive,
  entryKind,
  failure,
  listFolder,
  makeFolder,
  readBounded,
  readPrefix,
  replaceFile,
  replaceView,
  syncFolder,
} from "../../scripts/platform/files.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { dyingIn, failing, faultyFileSystem } from "../support/faulty-fs.ts";
import { memoryDisk } from "../support/memory-disk.ts";
import { tempFolder } from "../support/temp.ts";

const fs = realFileSystem;

describe("reading", () => {
  const odd: readonly (readonly [string, (path: string) => void, unknown])[] = [
    ["nothing", () => {}, { kind: "absent" }],
    ["a link", (path) => symlinkSync("/etc/passwd", path), { kind: "bad", why: "a link" }],
    ["a link to nowhere", (path) => symlinkSync("nowhere", path), { kind: "bad", why: "a link" }],
    ["a folder", (path) => mkdirSync(path), { kind: "bad", why: "a folder" }],
    ["a FIFO", (path) => execFileSync("mkfifo", [path]), { kind: "bad", why: "not a regular file" }],
    ["a file above its limit", (path) => grown(path, 11), { kind: "bad", why: "too large" }],
    ["a file at its limit", (path) => grown(path, 10), { kind: "file", size: 10 }],
    ["an empty file", (path) => grown(path, 0), { kind: "file", size: 0 }],
  ];

  function grown(path: string, bytes: number): void {
    writeFileSync(path, "");
    truncateSync(path, bytes);
  }

  test.each(odd)("%s is told apart, and never waited for", (_name, make, expected) => {
    const path = join(tempFolder(), "x");
    make(path);
    expect(readBounded(fs, path, 10)).toMatchObject(expected as object);
    const isFile = (expected as { kind: string }).kind === "file" || _name === "a file above its limit";
    expect(readPrefix(fs, path, 4)?.length).toBe(isFile ? Math.min(4, entrySize(path)) : undefined);
  });

  function entrySize(path: string): number {
    return readFileSync(path).length;
  }

  test("from a place on, and from behind the end", () => {
    const path = join(tempFolder(), "x");
    writeFileSync(path, "0123456789");
    expect(readBounded(fs, path, 4, 6)).toMatchObject({ bytes: Buffer.from("6789"), size: 10 });
    expect(readBounded(fs, path, 4, 100)).toMatchObject({ bytes: Buffer.alloc(0), size: 10 });
    expect(readPrefix(fs, path, 3, 8)?.toString()).toBe("89");
  });

  test("a failing disk is a failure, never an absent file or an empty folder", () => {
    const disk = memoryDisk();
    replaceFile(disk.fs, "/x", "x", false);
    const broken = failing(disk.fs, () => true, { errno: "EIO" });
    for (const read of [
      () => readBounded(broken, "/x", 10),
      () => entryKind(broken, "/x"),
      () => listFolder(broken, "/"),
    ]) {
      expect(read).toThrow(EnvironmentFailure);
      expect(read).toThrow(/input\/output error/);
    }
    expect(() =>
      listFolder(
        failing(disk.fs, () => true, { errno: "EMFILE" }),
        "/",
      ),
    ).toThrow(/open files/);
    expect(() =>
      readBounded(
        failing(disk.fs, () => true, { errno: "EMFILE" }),
        "/x",
        1,
      ),
    ).toThrow(/open files/);
    expect(
      listFolder(
        failing(disk.fs, () => true, { errno: "EACCES" }),
        "/",
      ),
    ).toEqual([]);
  });
});

describe("replacing", () => {
  test("killed at any call: the old bytes or the new ones, on this disk and after a power loss", () => {
    const begun = () => {
      const disk = memoryDisk();
      replaceFile(disk.fs, "/x", "old", true);
      return disk;
    };
    const whole = faultyFileSystem(begun().fs, () => null);
    replaceFile(whole, "/x", "new", true);
    for (let nth = 0; nth < whole.calls.length; nth += 1) {
      for (const killed of ["before", "after"] as const) {
        const disk = begun();
        const dying = faultyFileSystem(disk.fs, (call) => (call.nth === nth ? { killed } : null));
        dyingIn(dying, () => replaceFile(dying, "/x", "new", true));
        expect(["old", "new"]).toContain(disk.text("/x"));
        expect(["old", "new"]).toContain(disk.afterPowerLoss({ entry: () => true, bytes: () => 0 }).text("/x"));
      }
    }
  });

  test("told durable is durable, whether it was there before or not", () => {
    const disk = memoryDisk();
    replaceFile(disk.fs, "/x", "new", true);
    expect(disk.afterPowerLoss().text("/x")).toBe("new");
    replaceFile(disk.fs, "/x", "newer", true);
    expect(disk.afterPowerLoss().text("/x")).toBe("newer");
  });

  test("that fails leaves the old bytes and no temporary file", () => {
    for (const name of ["openSync", "writeSync", "fsyncSync", "renameSync"] as const) {
      const disk = memoryDisk();
      replaceFile(disk.fs, "/x", "old", true);
      const full = failing(disk.fs, (call) => call.name === name, { errno: "ENOSPC" }, 1);
      expect(() => replaceFile(full, "/x", "new", true)).toThrow(/no space left/);
      expect(disk.text("/x")).toBe("old");
      expect(listFolder(disk.fs, "/")).toEqual(["x"]);
    }
  });

  test("a write that is cut or stopped by a signal goes on until it is whole", () => {
    const disk = memoryDisk();
    let turn = 0;
    const slow = faultyFileSystem(disk.fs, ({ name }) => {
      if (name !== "writeSync") return null;
      turn += 1;
      return turn % 2 === 0 ? { errno: "EINTR" } : { shortBytes: 2 };
    });
    replaceFile(slow, "/x", "whole bytes", true);
    expect(disk.text("/x")).toBe("whole bytes");
  });

  test.each([
    ["a link", (path: string) => symlinkSync("other", path)],
    ["a FIFO", (path: string) => execFileSync("mkfifo", [path])],
    ["a folder", (path: string) => mkdirSync(path)],
  ])("a view is not put in the place of %s", (_name, make) => {
    const folder = tempFolder();
    make(join(folder, "x"));
    const before = entryKind(fs, join(folder, "x"));
    replaceView(fs, join(folder, "x"), "view");
    expect(entryKind(fs, join(folder, "x"))).toBe(before);
    expect(listFolder(fs, folder)).toEqual(["x"]);
  });
});

describe("creating what must not be there yet", () => {
  test("is whole and durable, and the second of two is told no", () => {
    const disk = memoryDisk();
    expect(createExclusive(disk.fs, "/x", "first", true)).toBe(true);
    expect(disk.afterPowerLoss().text("/x")).toBe("first");
    expect(createExclusive(disk.fs, "/x", "second", true)).toBe(false);
    expect(disk.text("/x")).toBe("first");
    expect(listFolder(disk.fs, "/")).toEqual(["x"]);
  });

  test("folders: a link or a file in the way is a failure, an existing folder is not", () => {
    const folder = tempFolder();
    makeFolder(fs, join(folder, "a", "b"));
    makeFolder(fs, join(folder, "a", "b"));
    expect(entryKind(fs, join(folder, "a", "b"))).toBe("folder");
    symlinkSync(folder, join(folder, "link"));
    writeFileSync(join(folder, "file"), "");
    for (const name of ["link", "file", "file/x"]) expect(() => makeFolder(fs, join(folder, name))).toThrow(/folder/);
  });
});

test("a folder's entries are durable once it was synced, and not before", () => {
  const disk = memoryDisk();
  makeFolder(disk.fs, "/a");
  expect(listFolder(disk.afterPowerLoss().fs, "/")).toEqual([]);
  syncFolder(disk.fs, "/");
  expect(listFolder(disk.afterPowerLoss().fs, "/")).toEqual(["a"]);
});

test("every error of a disk keeps its path, and one that is not known keeps its name", () => {
  for (const code of ["ENOSPC", "EDQUOT", "EIO", "EROFS", "EFBIG", "EMFILE", "ENFILE", "EACCES", "EPERM", "EWEIRD"]) {
    const told = failure(Object.assign(new Error(code), { code }), "/run/log.jsonl");
    expect(told.message).toContain("/run/log.jsonl");
    expect(told.code).toMatch(/^disk\.(full|io|readonly|limit|permission|other)$/);
    expect(told.fix).not.toBe("");
  }
  expect(failure(Object.assign(new Error(""), { code: "EWEIRD" }), "/x").message).toContain("EWEIRD");
  const already = failure(new EnvironmentFailure("git.failed", "r", "f"), "/x");
  expect(already.code).toBe("git.failed");
});
