import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RunId } from "../../scripts/core/ids.ts";
import { realFileSystem as fs } from "../../scripts/platform/fs.ts";
import {
  endSession,
  readSession,
  SESSION_RECORD_BYTES_MAX,
  type SessionRecord,
  sessionsOfProcess,
  stateFolder,
  writeSession,
} from "../../scripts/platform/sessions.ts";
import { tempFolder } from "../support/temp.ts";

function record(change: Partial<SessionRecord> = {}): SessionRecord {
  return {
    host: "claude",
    session: "s1",
    pid: 77,
    start: "1234",
    cwd: "/w",
    places: ["/w"],
    runs: [{ root: "/w", id: "r1" as RunId }],
    compactions: 2,
    owed: true,
    typed: [{ nonce: "0a1b2c3d", choice: "apply" }],
    chosen: [{ nonce: "0a1b2c3d", choice: "apply", asked: "0a".repeat(32), pid: 77, start: "1234" }],
    nudged: { run: "r1" as RunId, seq: 12 },
    ended: false,
    ...change,
  };
}

function state(): string {
  return join(tempFolder(), "state", "atlas");
}

test("the state folder is XDG's, else below home, else none", () => {
  expect(stateFolder({ XDG_STATE_HOME: "/x", HOME: "/h" })).toBe("/x/atlas");
  expect(stateFolder({ XDG_STATE_HOME: "relative", HOME: "/h" })).toBe("/h/.local/state/atlas");
  expect(stateFolder({ HOME: "/h" })).toBe("/h/.local/state/atlas");
  expect(stateFolder({ HOME: "" })).toBeNull();
  expect(stateFolder({})).toBeNull();
});

describe("a record", () => {
  test("comes back as it was written, and leaves no temporary file", () => {
    const folder = state();
    expect(writeSession(fs, folder, record())).toBe(true);
    expect(readSession(fs, folder, "s1")).toEqual(record());
    expect(readdirSync(join(folder, "sessions"))).toEqual(["s1.json"]);
  });

  test("stays within its limit: the oldest runs and places go first", () => {
    const folder = state();
    const runs = Array.from({ length: 40 }, (_, at) => ({ root: `/${"p".repeat(300)}`, id: `r${at}` as RunId }));
    const places = Array.from({ length: 20 }, (_, at) => `/${"q".repeat(500)}${at}`);
    expect(writeSession(fs, folder, record({ runs, places, cwd: `/${"c".repeat(1000)}` }))).toBe(true);
    expect(statSync(join(folder, "sessions", "s1.json")).size).toBeLessThanOrEqual(SESSION_RECORD_BYTES_MAX);
    const kept = readSession(fs, folder, "s1");
    expect(kept?.places.at(-1)).toBe(places.at(-1));
    expect(writeSession(fs, folder, record({ cwd: `/${"ü".repeat(3000)}` }))).toBe(false);
  });

  test("that cannot be written is skipped without a word", () => {
    const blocked = join(tempFolder(), "file");
    writeFileSync(blocked, "");
    expect(writeSession(fs, join(blocked, "atlas"), record())).toBe(false);
    expect(writeSession(fs, null, record())).toBe(false);
    expect(readSession(fs, join(blocked, "atlas"), "s1")).toBeNull();
  });

  test.each(["atlas", "sessions", "record"])("%s being a link is neither read nor written through", (which) => {
    const folder = state();
    const elsewhere = tempFolder();
    const other = join(elsewhere, "atlas");
    writeSession(fs, other, record());
    const before = readFileSync(join(other, "sessions", "s1.json"), "utf8");
    if (which === "atlas") {
      mkdirSync(join(folder, ".."), { recursive: true });
      symlinkSync(other, folder);
    } else if (which === "sessions") {
      mkdirSync(folder, { recursive: true });
      symlinkSync(join(other, "sessions"), join(folder, "sessions"));
    } else {
      mkdirSync(join(folder, "sessions"), { recursive: true });
      symlinkSync(join(other, "sessions", "s1.json"), join(folder, "sessions", "s1.json"));
    }
    expect(readSession(fs, folder, "s1")).toBeNull();
    expect(writeSession(fs, folder, record({ compactions: 9 }))).toBe(false);
    expect(readFileSync(join(other, "sessions", "s1.json"), "utf8")).toBe(before);
  });

  test.each([
    ["empty", ""],
    ["NULs", "\0\0\0"],
    ["torn", '{"v":1,"host":'],
    ["a list", "[]"],
    ["another session's", JSON.stringify({ v: 1, ...record({ session: "s2" }) })],
    ["a pid that is a path", JSON.stringify({ v: 1, ...record(), pid: "../x" })],
    ["a relative cwd", JSON.stringify({ v: 1, ...record({ cwd: "w" }) })],
    ["too large", `${JSON.stringify({ v: 1, ...record() })}${" ".repeat(5000)}`],
  ])("%s: as if there were none", (_name, text) => {
    const folder = state();
    mkdirSync(join(folder, "sessions"), { recursive: true });
    writeFileSync(join(folder, "sessions", "s1.json"), text);
    expect(readSession(fs, folder, "s1")).toBeNull();
  });

  test("hostile entries in it are dropped one by one", () => {
    const folder = state();
    mkdirSync(join(folder, "sessions"), { recursive: true });
    const odd = { v: 1, ...record(), places: ["../x", 7, "/ok"], runs: [{ root: "/ok", id: "../x" }, null] };
    writeFileSync(join(folder, "sessions", "s1.json"), JSON.stringify(odd));
    expect(readSession(fs, folder, "s1")).toMatchObject({ places: ["/ok"], runs: [] });
  });

  test.each(["../s1", "", "null", "a/b"])("no path is built from the id %j", (id) => {
    const folder = state();
    expect(writeSession(fs, folder, record({ session: id }))).toBe(false);
    expect(readSession(fs, folder, id)).toBeNull();
  });
});

describe("the sessions of a process", () => {
  test("are those of its pid and start that have not ended", () => {
    const folder = state();
    writeSession(fs, folder, record());
    writeSession(fs, folder, record({ session: "s2" }));
    writeSession(fs, folder, record({ session: "s3", pid: 78 }));
    const ids = () => sessionsOfProcess(fs, folder, 77, "1234").map(({ session }) => session);
    expect(ids()).toEqual(["s1", "s2"]);
    endSession(fs, folder, "s1");
    expect(ids()).toEqual(["s2"]);
    expect(readSession(fs, folder, "s1")).toMatchObject({ ended: true, owed: false, compactions: 2 });
    expect(sessionsOfProcess(fs, folder, 77, "another start")).toEqual([]);
    expect(sessionsOfProcess(fs, folder, 1, "1234")).toEqual([]);
  });

  test("a session that moved to another process counts there alone", () => {
    const folder = state();
    writeSession(fs, folder, record());
    writeSession(fs, folder, record({ pid: 99, start: "5" }));
    expect(sessionsOfProcess(fs, folder, 77, "1234")).toEqual([]);
    expect(sessionsOfProcess(fs, folder, 99, "5")).toHaveLength(1);
  });

  test("a pid used again forgets the process before", () => {
    const folder = state();
    writeSession(fs, folder, record());
    writeSession(fs, folder, record({ session: "s2", start: "9999" }));
    expect(readdirSync(join(folder, "by-process", "77"))).toEqual(["s2"]);
    expect(sessionsOfProcess(fs, folder, 77, "9999").map(({ session }) => session)).toEqual(["s2"]);
  });

  test("are found without reading the records of others", () => {
    const folder = state();
    for (let at = 0; at < 300; at += 1) writeSession(fs, folder, record({ session: `o${at}`, pid: 1000 + at }));
    writeSession(fs, folder, record());
    let opened = 0;
    const counting = {
      ...fs,
      openSync: (path: string, flags: number, mode?: number) => {
        opened += 1;
        return fs.openSync(path, flags, mode);
      },
    };
    expect(sessionsOfProcess(counting, folder, 77, "1234")).toHaveLength(1);
    expect(opened).toBe(1);
  });
});
