import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  FINISHED,
  isMarked,
  LOOSE_MARKS_MAX,
  mark,
  markedIds,
  PACKED,
  packMarks,
  readMarks,
  unmarked,
} from "../../scripts/platform/finished.ts";
import { type FileSystem, realFileSystem as fs } from "../../scripts/platform/fs.ts";
import { unfinishedIds } from "../../scripts/platform/peek.ts";
import { writeOwnRun } from "../support/ledger.ts";
import { tempFolder } from "../support/temp.ts";

const many = LOOSE_MARKS_MAX + 1;
const idOf = (at: number): string => `20261130t190000z-${at.toString(16).padStart(6, "0")}`;
const first = idOf(0);

function place(): { readonly atlas: string; readonly folder: string } {
  const atlas = join(tempFolder(), ".atlas");
  mkdirSync(atlas);
  return { atlas, folder: join(atlas, FINISHED) };
}

function marked(count: number): ReturnType<typeof place> {
  const made = place();
  for (let at = 0; at < count; at += 1) mark(fs, made.atlas, idOf(at));
  return made;
}

describe("marks of finished runs", () => {
  test("a few lie singly; one more than a few, and all are packed into one file", () => {
    expect(readdirSync(marked(LOOSE_MARKS_MAX).folder)).toHaveLength(LOOSE_MARKS_MAX);
    const { atlas, folder } = marked(many);
    expect(readdirSync(folder)).toEqual([PACKED]);
    expect(markedIds(readMarks(fs, atlas))).toContain(first);
    expect(readFileSync(join(folder, PACKED), "utf8").trimEnd().split("\n")).toHaveLength(many);
    mark(fs, atlas, first);
    expect(readdirSync(folder)).toEqual([PACKED]);
    mark(fs, atlas, "other");
    expect(readdirSync(folder).sort()).toEqual([PACKED, "other"]);
    expect(isMarked(fs, atlas, first) && isMarked(fs, atlas, "other") && !isMarked(fs, atlas, "third")).toBe(true);
  });

  test("a packed mark spares a run every look, as a single one does", () => {
    const { atlas } = marked(many);
    for (const id of [first, idOf(1), "20261201t000000z-abcdef"]) writeOwnRun(atlas, { id });
    // Most marks are of runs whose folder is gone; one run sorts before all of them, one amidst, one behind.
    for (const id of ["20250101t000000z-abcdef", "20261130t190000z-00000f0"]) writeOwnRun(atlas, { id });
    expect(unfinishedIds(fs, atlas)).toEqual([
      "20250101t000000z-abcdef",
      "20261130t190000z-00000f0",
      "20261201t000000z-abcdef",
    ]);
  });

  test("at every call of a packing that is cut off, each mark is still one", () => {
    for (let calls = 0; ; calls += 1) {
      const { atlas, folder } = place();
      mkdirSync(folder);
      for (let at = 0; at < many; at += 1) writeFileSync(join(folder, idOf(at)), "");
      let left = calls;
      const cut = Object.fromEntries(
        Object.entries(fs).map(([name, call]) => [
          name,
          (...words: unknown[]) => {
            left -= 1;
            if (left < 0) throw Object.assign(new Error("cut off"), { code: "EIO" });
            return (call as (...given: unknown[]) => unknown)(...words);
          },
        ]),
      ) as unknown as FileSystem;
      try {
        packMarks(cut, atlas);
      } catch {
        // As a full disk would.
      }
      const missing = Array.from({ length: many }, (_, at) => idOf(at)).filter(
        (id) => !markedIds(readMarks(fs, atlas)).has(id),
      );
      expect(missing, `after ${calls} calls`).toEqual([]);
      rmSync(atlas, { recursive: true });
      if (left >= 0) break;
    }
  });

  test("two that pack at once lose none of the marks both saw", () => {
    const { atlas, folder } = place();
    mkdirSync(folder);
    for (let at = 0; at < many; at += 1) writeFileSync(join(folder, idOf(at)), "");
    let isFirst = true;
    const interrupted: FileSystem = {
      ...fs,
      renameSync: (from, to) => {
        if (isFirst) {
          isFirst = false;
          packMarks(fs, atlas);
        }
        fs.renameSync(from, to);
      },
    };
    packMarks(interrupted, atlas);
    expect(isFirst).toBe(false);
    expect(markedIds(readMarks(fs, atlas)).size).toBeGreaterThanOrEqual(many);
    expect(isMarked(fs, atlas, first)).toBe(true);
  });

  test.each([
    ["a link", (path: string) => symlinkSync("/etc/hostname", path)],
    ["a folder", (path: string) => mkdirSync(path)],
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
    ["garbage", (path: string) => writeFileSync(path, Buffer.from([0, 255, 10, 10, 254]))],
  ])("%s where the packed marks should be marks nothing, and the single ones count", (_what, make) => {
    const { atlas, folder } = place();
    mkdirSync(folder);
    writeFileSync(join(folder, first), "");
    make(join(folder, PACKED));
    const marks = readMarks(fs, atlas);
    expect(unmarked(marks, [first, idOf(1)])).toEqual([idOf(1)]);
    expect([...marks.loose]).toEqual([first]);
  });
});
