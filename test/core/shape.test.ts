import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Field, misfit, type Shape } from "../../scripts/core/shape.ts";
import { goneOwner } from "../support/ledger.ts";

const fits = (field: Field, value: unknown): boolean => misfit({ x: value }, { x: field }) === null;
const hash = "a".repeat(64);

describe("a field", () => {
  test.each<[Field, readonly unknown[], readonly unknown[]]>([
    ["text", ["", "x"], [7, null, undefined, ["x"], {}]],
    ["text?", ["x", null], [7, undefined]],
    ["texts", [[], ["x"]], ["x", [7], null, { length: 0 }]],
    ["flag", [true, false], [1, "true", null]],
    ["count", [0, 7], [-1, 0.5, Number.NaN, 2 ** 53, "7", null]],
    ["hash", [hash], [hash.toUpperCase(), hash.slice(1), `${hash}a`, `${hash}\n`, "../".repeat(22), null]],
    ["oid", ["a".repeat(40), hash], ["a".repeat(41), "--output=x", "HEAD", "", null]],
    ["oid?", ["a".repeat(40), null], ["x"]],
    ["word", ["scout", "code-quality"], ["", "-x", "../x", "Scout", "a b", 7]],
    ["path", ["e1.1", "tasks/a/worktree"], ["", "/x", "../x", "a/../b", "a//b", ".", "a\0b", "a\\..\\b", null]],
    ["paths", [[], ["worktree"]], [["../x"], "worktree"]],
    ["lease", ["scout#1@1"], ["scout", "../x#1@1", "scout#x@1", 7]],
    ["lease?", [null, "scout#1@1"], [undefined]],
    ["pass", [0, 1, 2], [3, -1, "0", null]],
    [
      "owner",
      [goneOwner(), { ...goneOwner(), pid: null, session: null }],
      [
        null,
        "x",
        {},
        { ...goneOwner(), pid: "../x" },
        { ...goneOwner(), pid: -1 },
        { ...goneOwner(), host: 7 },
        { ...goneOwner(), uid: "0" },
      ],
    ],
    [
      "files",
      [[], [{ path: "log.jsonl", sha256: hash, bytes: 1 }]],
      [[{}], [{ path: "../x", sha256: hash, bytes: 1 }], {}],
    ],
    ["object", [{}, []], [null, 7, "x"]],
    [["a", "b"], ["a"], ["c", 7, null, ["a"]]],
  ])("%j", (field, good, bad) => {
    for (const value of good) expect(fits(field, value), JSON.stringify(value)).toBe(true);
    for (const value of bad) expect(fits(field, value), JSON.stringify(value)).toBe(false);
  });

  test("that may be missing may be missing, and must fit where it is there", () => {
    expect(misfit({}, { "x?": "text" })).toBeNull();
    expect(misfit({ x: null }, { "x?": "text" })).toBe("x");
    expect(misfit({}, { x: "text" })).toBe("x");
  });

  test("is the event's own, not its prototype's", () => {
    const shape = Object.fromEntries([["constructor", "object"]]) as Shape;
    expect(misfit({}, shape)).toBe("constructor");
  });

  test("a path that fits stays below where it begins, whatever it is", () => {
    const names = fc.array(fc.constantFrom("a", "..", ".", "", "b.c", "/", "\\", "\0"), { maxLength: 6 });
    fc.assert(
      fc.property(names, (parts) => {
        const path = parts.join("/");
        if (!fits("path", path)) return;
        expect(new URL(path.replaceAll("\\", "/"), "file:///base/").pathname.startsWith("/base/")).toBe(true);
      }),
    );
  });
});
