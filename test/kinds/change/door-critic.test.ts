import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lenses, severities } from "../../../scripts/verify/defect.ts";
import { clean, defect, dimensions, red, refused, taken } from "../../support/doors.ts";

describe("critics' slots", () => {
  it("takes a judgment that agrees with itself, in one code fence or none", () => {
    expect(taken("correctness", red).verdict).toBe("FAIL");
    const text = JSON.stringify(red, null, 2);
    for (const fenced of [
      `\`\`\`json\n${text}\n\`\`\``,
      `\n\`\`\`\r\n${text}\r\n\`\`\`\n\n`,
      `\ufeff\`\`\`JSON\n${text}\n\`\`\``,
    ]) {
      expect(taken("correctness", fenced)).toEqual(red);
    }
  });

  it.each([
    ["two fences", "```json\n```json\n{}\n```\n```"],
    ["an open fence", "```json\n{}"],
    ["prose before the fence", "Here:\n```json\n{}\n```"],
    ["prose after the fence", "```json\n{}\n```\nDone."],
    ["two fenced values", "```json\n{}\n```\n```json\n{}\n```"],
  ])("refuses %s", (_, text) => expect(refused("correctness", text)).toBe("slot.json"));

  it("takes no fence from the root", () => {
    expect(refused("triage", '```json\n{"archetype":"docs"}\n```')).toBe("slot.json");
  });

  it("takes exactly those judgments whose dimensions and verdict follow from their defects", () => {
    const severityOf = fc.constantFrom(...severities);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...lenses), severityOf), { maxLength: 4 }),
        fc.tuple(...lenses.map(() => fc.constantFrom("yes", "no"))),
        fc.constantFrom("OK", "FAIL"),
        (raised, said, verdict) => {
          const defects = raised.map(([category, severity], at) => ({
            ...defect,
            id: `S${at + 1}`,
            category,
            severity,
          }));
          const blocked = new Set(
            raised.filter(([, severity]) => severity === "CRITICAL" || severity === "HIGH").map(([lens]) => lens),
          );
          const truthful = {
            dimensions: Object.fromEntries(lenses.map((lens) => [lens, blocked.has(lens) ? "no" : "yes"])),
            defects,
            verdict: blocked.size === 0 ? "OK" : "FAIL",
          };
          expect(refused("security", truthful)).toBe("taken");
          const drawn = {
            dimensions: Object.fromEntries(lenses.map((lens, at) => [lens, said[at]])),
            defects,
            verdict,
          };
          const isSame = JSON.stringify(drawn) === JSON.stringify(truthful);
          expect(refused("security", drawn) === "taken").toBe(isSame);
        },
      ),
    );
  });

  it.each([
    ["critic.dimension", { ...red, dimensions }],
    ["critic.dimension", { ...clean, dimensions: { ...dimensions, SECURITY: "no" } }],
    ["critic.verdict", { ...clean, verdict: "FAIL" }],
    ["critic.verdict", { ...red, verdict: "OK" }],
    ["critic.id", { ...red, defects: [{ ...defect, id: "Q1" }] }],
    ["critic.id", { ...red, defects: [{ ...defect, id: "C01" }] }],
    ["critic.id", { ...red, defects: [{ ...defect, id: "C1\n" }] }],
    ["critic.reserved_id", { ...red, defects: [{ ...defect, id: "critic-missing:security" }] }],
    ["critic.reserved_id", { ...red, defects: [{ ...defect, id: "evidence-incomplete" }] }],
    ["critic.duplicate_id", { ...red, defects: [defect, defect] }],
    ["critic.shape", { ...clean, notes: "fine" }],
    ["critic.shape", { ...clean, dimensions: { CORRECTNESS: "yes" } }],
    ["critic.shape", { ...clean, dimensions: { ...dimensions, STYLE: "yes" } }],
    ["critic.shape", { ...red, defects: [{ ...defect, severity: ["HIGH"] }] }],
    ["critic.shape", { ...red, defects: [{ ...defect, fix: "x".repeat(4001) }] }],
    ["critic.shape", { ...red, defects: [{ ...defect, location: " " }] }],
    ["critic.shape", { ...red, defects: Array.from({ length: 51 }, (_, at) => ({ ...defect, id: `C${at + 1}` })) }],
    ["critic.shape", []],
    ["critic.shape", null],
    ["slot.duplicate_key", JSON.stringify(clean).replace('"verdict"', '"verdict":"FAIL","verdict"')],
  ])("refuses with %s", (code, value) => expect(refused("correctness", value)).toBe(code));
});
