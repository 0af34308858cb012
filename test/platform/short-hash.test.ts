import { expect, test } from "vitest";
import { sha256 } from "../../scripts/platform/hash.ts";
import { SHORT_BYTES_MAX, shortSha256 } from "../../scripts/platform/short-hash.ts";

test("gives what node's own gives, at every length around its blocks and its limit", () => {
  for (let length = 0; length < SHORT_BYTES_MAX + 10; length += 1) {
    const text = Array.from({ length }, (_, at) => String.fromCharCode(32 + ((at * 37 + length) % 90))).join("");
    expect(shortSha256(text)).toBe(sha256(text));
  }
  for (const text of ["ü€😀", "x".repeat(10_000)]) expect(shortSha256(text)).toBe(sha256(text));
});
