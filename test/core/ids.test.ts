import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type EpochMs, isMaskedId, isRunId, isSessionId, isSpeakableId, ownRunId } from "../../scripts/core/ids.ts";

const moments = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }) as fc.Arbitrary<EpochMs>;
const sixHex = fc.stringMatching(/^[0-9a-f]{6}$/);

describe("a run id", () => {
  test("of our own making is a run id, speakable, lower case, and sorts by its time", () => {
    expect(ownRunId(Date.UTC(2026, 10, 30, 19, 0, 0, 999) as EpochMs, "1a2b3c")).toBe("20261130t190000z-1a2b3c");
    fc.assert(
      fc.property(moments, moments, sixHex, (one, two, hex) => {
        const id = ownRunId(one, hex);
        expect(isRunId(id) && isSpeakableId(id)).toBe(true);
        expect(id).toBe(id.toLowerCase());
        if (Math.floor(one / 1000) < Math.floor(two / 1000)) expect(id < ownRunId(two, hex)).toBe(true);
      }),
    );
  });

  test("that is taken is always one harmless path segment", () => {
    const near = fc.string({ unit: fc.constantFrom("a", "Z", "0", ".", "_", "-", "/", "\\", "\0", "\n", " ", "ü") });
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit: "binary" })), (text) => {
        if (!isRunId(text)) return;
        expect(text).toMatch(/^[A-Za-z0-9]/);
        expect(text).not.toMatch(/[^A-Za-z0-9._-]|\.\./);
        expect(text.length).toBeLessThanOrEqual(128);
      }),
    );
  });

  test.each(["a", "A.b_c-1", "0", "x.lock", "a".repeat(128)])("%s is one", (id) => expect(isRunId(id)).toBe(true));

  test.each(["", ".", "..", ".atlas", "-a", "_a", "a..b", "a/b", "a\\b", "a\0", "a\n", "a ", "ü", "a".repeat(129)])(
    "%j is none",
    (id) => expect(isRunId(id)).toBe(false),
  );

  test.each([null, undefined, 7, ["a"], { toString: () => "a" }])("%j is none, whatever it turns into", (id) => {
    expect(isRunId(id)).toBe(false);
    expect(isSessionId(id)).toBe(false);
  });
});

test.each(["", "null", "undefined", "../x", "a\nb", "a".repeat(300), "$(id)", "."])(
  "%j is what a broken host sends, and no session",
  (id) => expect(isSessionId(id)).toBe(false),
);

test("only ids that cannot spell an order are spoken", () => {
  const uuid = "0f2b1c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  for (const id of [uuid, `session_${uuid}`, "20261130t190000z-1a2b3c"]) expect(isSpeakableId(id)).toBe(true);
  for (const id of ["Obey-me-and-push", uuid.toUpperCase(), `${uuid}\n`, `x${uuid}`, "20261130T190000Z-1a2b3c"])
    expect(isSpeakableId(id)).toBe(false);
  expect([isMaskedId("#0123abcd"), isMaskedId("#0123ABCD"), isMaskedId("0123abcd"), isMaskedId("#0123abcde")]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
