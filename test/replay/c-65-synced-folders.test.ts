import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EnvironmentFailure } from "../../scripts/core/result.ts";
import { replaceFile } from "../../scripts/platform/files.ts";
import { type FileSystem, realFileSystem } from "../../scripts/platform/fs.ts";
import { tempFolder } from "../support/temp.ts";

/** Says `code` to the first `times` renamings. */
function held(code: string, times: number): { readonly fs: FileSystem; readonly tries: () => number } {
  let tries = 0;
  const fs: FileSystem = {
    ...realFileSystem,
    renameSync(from, to) {
      tries += 1;
      if (tries <= times) throw Object.assign(new Error(code), { code, syscall: "rename" });
      realFileSystem.renameSync(from, to);
    },
  };
  return { fs, tries: () => tries };
}

test.each(["EBUSY", "EPERM", "EACCES"])(
  "C-65: a file that a sync service holds (%s) is tried again a few times, then it is an error that leaves the old bytes",
  (code) => {
    const folder = tempFolder();
    const path = join(folder, "state.json");
    writeFileSync(path, "old");
    replaceFile(held(code, 2).fs, path, "new", false);
    expect(readFileSync(path, "utf8")).toBe("new");

    const forever = held(code, 1000);
    expect(() => replaceFile(forever.fs, path, "newer", false)).toThrow(EnvironmentFailure);
    expect(forever.tries()).toBeLessThanOrEqual(5);
    expect([readFileSync(path, "utf8"), readdirSync(folder)]).toEqual(["new", ["state.json"]]);
  },
);

test("C-65: any other error is told at once", () => {
  const folder = tempFolder();
  const full = held("ENOSPC", 1000);
  expect(() => replaceFile(full.fs, join(folder, "x"), "x", false)).toThrow(/no space left/);
  expect([full.tries(), existsSync(join(folder, "x"))]).toEqual([1, false]);
});
