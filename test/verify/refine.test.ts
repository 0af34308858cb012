import { describe, expect, it } from "vitest";
import type { Defect } from "../../scripts/verify/defect.ts";
import { verdict } from "../../scripts/verify/verdict.ts";
import { context, good, raised, seats, seen, tree } from "../support/judgments.ts";

describe("refine", () => {
  it("comes once for any correctness or security defect, however low, and for no other low one", () => {
    for (const [category, refines] of [
      ["CORRECTNESS", true],
      ["SECURITY", true],
      ["CODE-QUALITY", false],
      ["TEST-ADEQUACY", false],
    ] as const) {
      const low = raised("C1", category, "LOW");
      expect(verdict(good, seats({ correctness: seen(low) }), 0, context).refine).toBe(refines);
      const again = seats({ correctness: seen(low, 1) }, 1);
      expect(verdict({ ...good, pass: 1 }, again, 1, context).refine).toBe(false);
    }
  });

  it("counts what a critic raised even under an id that is ours", () => {
    const disguised = seen(raised("critic-missing:security", "SECURITY", "CRITICAL"));
    expect(verdict(good, seats({ security: disguised }), 0, context).refine).toBe(true);
  });

  function second(blocking: readonly Defect[], previousTree: string, location = "src/a.ts:9") {
    const given = seats({ correctness: seen(raised("C1", "CORRECTNESS", "HIGH", location), 1) }, 1);
    return verdict({ ...good, pass: 1 }, given, 1, { ...context, previous: { tree: previousTree, blocking } });
  }

  it("ends without progress: the same tree, or the same categories and paths, however worded and wherever in the file", () => {
    const before = raised("C7", "CORRECTNESS", "CRITICAL", "./src/a.ts:3-4").defects;
    const elsewhere = raised("C1", "CORRECTNESS", "HIGH", "src/b.ts").defects;
    expect(second(before, "c".repeat(40))).toMatchObject({
      refine: false,
      why: ["defects.blocking", "refine.no_progress"],
    });
    expect(second(elsewhere, tree.coded).why).toContain("refine.no_progress");
    expect(second(elsewhere, "c".repeat(40))).toMatchObject({ refine: true });
    expect(second([], "c".repeat(40)).refine).toBe(true);
  });

  it("does not take an empty seat for progress", () => {
    const before = raised("C1", "CORRECTNESS", "HIGH").defects;
    const missing: Defect = {
      id: "critic-missing:security",
      category: "SECURITY",
      severity: "CRITICAL",
      location: "security",
      fix: "",
    };
    expect(second([...before, missing], "c".repeat(40)).refine).toBe(false);
  });

  it("ends after two passes, and says so", () => {
    const given = seats({ correctness: seen(raised("C1", "CORRECTNESS", "CRITICAL"), 2) }, 2);
    const result = verdict({ ...good, pass: 2 }, given, 2, context);
    expect(result.refine).toBe(false);
    expect(result.why).toContain("refine.spent");
  });
});
