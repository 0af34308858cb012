import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { check } from "../../../scripts/kinds/change/doors.ts";
import { parseRequestText } from "../../../scripts/kinds/change/request-text.ts";

function parsed(text: string): unknown {
  const result = parseRequestText(text);
  return result.ok ? result.value : result.error.code;
}

describe("a request in plain words", () => {
  it("is clauses at line starts, and everything else is the intent", () => {
    const text = [
      "\ufeffFix the sum.",
      "Verify_Cmd:  npm test -- --grep 'a: b'",
      "It must hold: scope: of nothing.",
      "  scope: indented is prose",
      "success: sums right; keeps zero ;",
      "SUCCESS: stays fast",
      'scope: src/, test/**/*.{ts,tsx} "my docs/a, b.md"',
      "setup_cmd: npm ci",
      "lint_cmd:",
      "test_glob: **/*.spec.ts",
      "",
    ].join("\r\n");
    expect(parsed(text)).toEqual({
      intent: "Fix the sum.\nIt must hold: scope: of nothing.\n  scope: indented is prose",
      verify_cmd: "npm test -- --grep 'a: b'",
      setup_cmd: "npm ci",
      success_criteria: ["sums right", "keeps zero", "stays fast"],
      scope_paths: ["src/", "test/**/*.{ts,tsx}", "my docs/a, b.md"],
      test_glob: ["**/*.spec.ts"],
    });
  });

  it("leaves out what it does not say, so that the gate asks", () => {
    expect(parsed("do it")).toEqual({ intent: "do it" });
    expect(parsed("do it\nscope:\nsuccess: ;\nverify_cmd: ")).toEqual({ intent: "do it" });
  });

  it("refuses clauses without an intent, a command twice and half a megabyte", () => {
    expect(parsed("scope: src\n\n")).toBe("slot.empty");
    expect(parsed("x\nverify_cmd: a\nverify_cmd: b")).toBe("slot.duplicate_clause");
    expect(parsed("x".repeat(512 * 1024 + 1))).toBe("slot.too_large");
  });

  it("goes through the packet's door, whatever was written, taken or refused with a fix", () => {
    const line = fc.oneof(
      fc.string({ maxLength: 40 }),
      fc
        .tuple(fc.constantFrom("scope", "success", "verify_cmd", "test_glob"), fc.string({ maxLength: 40 }))
        .map(([a, b]) => `${a}: ${b}`),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        const result = parseRequestText(lines.join("\n"));
        if (!result.ok) {
          expect(result.error.fix).not.toBe("");
          return;
        }
        const bytes = new TextEncoder().encode(JSON.stringify(result.value));
        const door = check("packet", bytes, { exists: () => false, memoryBytes: 2 ** 30, recovered: false });
        if (!door.ok) expect(door.error.code).toMatch(/^slot\.(path|shape)$/);
        else expect(door.value.packet.intent).toBe(result.value.intent);
      }),
    );
  });

  it("is read fast however hostile", () => {
    const before = performance.now();
    parsed(`x\nscope: ${'"'.repeat(1)}${"{a".repeat(200_000)}`);
    parsed(`x\nscope: ${"{".repeat(400_000)}`);
    parsed(`x\nscope: ${"{a,".repeat(150_000)}"`);
    expect(performance.now() - before).toBeLessThan(2000);
  });
});
