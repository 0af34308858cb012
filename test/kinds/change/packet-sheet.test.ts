import { describe, expect, it } from "vitest";
import { sheet } from "../../../scripts/kinds/change/packet-sheet.ts";
import { expectSound, nonce, unfenced } from "../../support/sheets.ts";

describe("the sheet", () => {
  it("gives sections room in their order and keeps every part within 60 KB even if the body is all nonces", () => {
    const body = `${nonce}\n`.repeat(20_000);
    const sections = (["request", "plan", "diff", "scout"] as const).map((label) => ({
      label,
      text: label === "request" ? "short" : body,
      folder: label,
      extension: "txt" as const,
    }));
    const built = sheet(["a", "b", "c"], sections, nonce);
    expectSound(built);
    expect(unfenced(built.markdown).bodies[0]).toBe("short");
    expect(new Set(built.files.map(({ name }) => name.split("/")[0]))).toEqual(new Set(["plan", "diff", "scout"]));
  });
});
