import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type EpochMs, isPortableName, isSessionId, ownRunId } from "../../scripts/core/ids.ts";
import { leaseFileBase } from "../../scripts/core/lease-file.ts";
import { changeSlots } from "../../scripts/parts/slots.ts";
import { repositoryRoot } from "../support/run-cli.ts";

describe("a name that every system can give to a file", () => {
  test.each(["con", "NUL", "aux.json", "com1", "LPT9.txt", "a:b", "a?", "a*", "a.", "a ", "", 'a"', "a\0b", "a\\b"])(
    "%j is none",
    (name) => expect(isPortableName(name)).toBe(false),
  );
  test.each(["console", "null.json", "com", "com10", ".starts", "a.con", "scout.1.1"])("%s is one", (name) =>
    expect(isPortableName(name)).toBe(true),
  );

  test("our own ids and the files of a lease have one, for every slot", () => {
    expect(isPortableName(ownRunId(0 as EpochMs, "00000a"))).toBe(true);
    for (const slot of Object.keys(changeSlots))
      for (const ending of ["lease", "out", "submit"])
        expect(isPortableName(`${leaseFileBase(`${slot}#12@3`)}.${ending}`)).toBe(true);
  });

  test("a session id without one is no session id: its record would have none", () => {
    for (const id of ["con", "Nul.1", "abc."]) expect(isSessionId(id)).toBe(false);
    expect(isSessionId("session_11111111-2222-4333-8444-555555555555")).toBe(true);
  });

  test("everything that is shipped has one, and no two that differ in case only", () => {
    for (const top of ["agents", "bin", "dist", "docs", "hooks", "references", "scripts", "skills"]) {
      const paths = readdirSync(join(repositoryRoot, top), { recursive: true, encoding: "utf8" });
      expect(paths.filter((path) => !path.split(/[\\/]/).every(isPortableName))).toEqual([]);
      expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(paths.length);
    }
  });
});
