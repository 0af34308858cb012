import { expect, test } from "vitest";
import { freeMegabytes, parseVmStat } from "../../scripts/engine/memory.ts";

const vmStat = `Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                                4810.
Pages active:                            244563.
Pages inactive:                          240518.
Pages speculative:                         3062.
Pages throttled:                              0.
`;

test("macOS: memory it would give back counts as free", () => {
  expect(parseVmStat(vmStat)).toBe((4810 + 240518 + 3062) * 16384);
});

test.each(["", "Pages free: 12.", vmStat.replace("speculative", "other")])("another form is no number: %j", (text) => {
  expect(parseVmStat(text)).toBeNull();
});

test("a given number replaces the reading, an odd one does not", () => {
  expect(freeMegabytes({ ATLAS_FREE_MB: "512" })).toBe(512);
  for (const odd of ["", "-1", "1e3", "x"]) expect(freeMegabytes({ ATLAS_FREE_MB: odd })).toBeGreaterThan(0);
});
