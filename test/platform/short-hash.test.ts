import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sha256 } from "../../scripts/platform/hash.ts";
import { SHORT_BYTES_MAX, shortSha256 } from "../../scripts/platform/short-hash.ts";

const nodes = (text: string): string => createHash("sha256").update(text).digest("hex");

test("gives what node's own gives, at every length around its blocks and its limit", () => {
  for (let length = 0; length < SHORT_BYTES_MAX + 10; length += 1) {
    const text = Array.from({ length }, (_, at) => String.fromCharCode(32 + ((at * 37 + length) % 90))).join("");
    expect(shortSha256(text)).toBe(nodes(text));
  }
  for (const text of ["ü€😀", "x".repeat(10_000)]) expect(shortSha256(text)).toBe(nodes(text));
});

test("the first bytes a process hashes give what the later ones do, texts and bytes", () => {
  for (let round = 0; round < 400; round += 1) {
    const text = `${round} ü€😀`.repeat(round % 7);
    expect(sha256(text)).toBe(nodes(text));
    expect(sha256(Buffer.from(text))).toBe(nodes(text));
  }
});
