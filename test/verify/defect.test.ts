import { describe, expect, it } from "vitest";
import { isReservedId, locationPath } from "../../scripts/verify/defect.ts";

describe("defects", () => {
  it.each([
    ["src/a.ts:3", "src/a.ts"],
    ["src/a.ts:3:14", "src/a.ts"],
    ["./src/a.ts:3-9", "src/a.ts"],
    ["src/a.ts#L3-L9", "src/a.ts"],
    ["verify_cmd", "verify_cmd"],
  ])("the location %s names the path %s", (location, path) => expect(locationPath(location)).toBe(path));

  it("only our own families of ids are reserved: a critic may name what it was shown", () => {
    for (const id of [
      "critic-missing:x",
      "critic-stale:y",
      "dimension-dissent:z",
      "evidence-incomplete",
      "critic-schema",
      "stale-verdict",
    ]) {
      expect(isReservedId(id)).toBe(true);
    }
    for (const id of ["runcheck", "empty-diff", 'out-of-scope:"a"', "C1", "critic-missingx"])
      expect(isReservedId(id)).toBe(false);
  });
});
