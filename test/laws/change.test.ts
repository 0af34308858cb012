/** Laws of the change machine that hold for every history, whatever callers try. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideChange } from "../../scripts/kinds/change/decide.ts";
import type { ChangeEvent } from "../../scripts/kinds/change/events.ts";
import { change } from "../../scripts/kinds/change/kind.ts";
import { decideSettle } from "../../scripts/kinds/change/settle.ts";
import type { ChangeState } from "../../scripts/kinds/change/state.ts";
import { type Birth, fold, type Move, momentOf, walk } from "../support/change-walks.ts";

const birth: fc.Arbitrary<Birth> = fc.record({
  form: fc.constantFrom("interactive" as const, "headless" as const),
  hasCommand: fc.boolean(),
  missing: fc.subarray(["success_criteria", "verify_cmd", "scope_paths"]),
  gas: fc.constantFrom(1, 3, 5, 48),
});
const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({ kind: fc.nat(10_000), pick: fc.nat(1000), twist: fc.nat(1000) }),
  { minLength: 20, maxLength: 120, size: "max" },
);
const numRuns = 120;
const isType = (type: ChangeEvent["type"]) => (event: ChangeEvent) => event.type === type;

function always(law: (births: Birth, steps: readonly Move[]) => void): void {
  fc.assert(fc.property(birth, moves, law), {
    numRuns,
    interruptAfterTimeLimit: 20_000,
    markInterruptAsFailure: false,
  });
}

describe("in every history", () => {
  // `walk` folds every decision: an event the fold refuses would throw there.
  test("what is decided can be folded, and walks get to the end", () => {
    const reached = new Set<string>();
    always((births, steps) => {
      for (const state of walk(births, steps).states) reached.add(state.phase.at);
    });
    for (const phase of ["clarify", "approve", "prepare", "code", "verify", "critique", "judged", "output", "ended"]) {
      expect(reached, `no walk reached ${phase}`).toContain(phase);
    }
  });

  test("a decision is a refusal, nothing at all, or at least one fact", () => {
    always((births, steps) => {
      for (const { decision } of walk(births, steps).decisions) {
        if (decision.ok) expect(decision.value?.length).not.toBe(0);
        else expect(decision.error.code).toMatch(/^[a-z_]+\.[a-z_]+$/);
      }
    });
  });

  test("gas charged is leases issued, and never more than was granted", () => {
    always((births, steps) => {
      const { lines, states } = walk(births, steps);
      const { gas, leases } = states.at(-1) as ChangeState;
      const issued = Object.values(leases.issued).reduce((sum, count) => sum + count, 0);
      expect(issued).toBe(lines.flat().filter(isType("leased")).length);
      expect(gas.charged).toBe(issued);
      expect(gas.charged).toBeLessThanOrEqual(gas.granted);
    });
  });

  test("no lease token is ever given twice", () => {
    always((births, steps) => {
      const given = walk(births, steps)
        .lines.flat()
        .flatMap((event) => (event.type === "leased" ? [event.lease] : []));
      expect(new Set(given).size).toBe(given.length);
    });
  });

  test("there are two refine passes at most", () => {
    always((births, steps) => {
      const { lines, states } = walk(births, steps);
      const refined = lines.flat().filter((event) => event.type === "stage" && event.stage === "REFINE").length;
      expect(refined).toBeLessThanOrEqual(2);
      expect((states.at(-1) as ChangeState).refinePasses).toBe(refined);
    });
  });

  test("a decision completes one stage at most", () => {
    always((births, steps) => {
      for (const line of walk(births, steps).lines) expect(line.filter(isType("stage")).length).toBeLessThanOrEqual(1);
    });
  });

  test("a dispatch is only ever of live leases, and a hand-out only of slots without one", () => {
    always((births, steps) => {
      for (const state of walk(births, steps).states) {
        const next = change.next(state);
        const live = state.leases.live;
        if (next.step === "dispatch") {
          expect(next.leases.length).toBeGreaterThan(0);
          for (const token of next.leases) expect(live.some((lease) => lease.lease === token)).toBe(true);
        }
        if (next.step === "hand-out") {
          for (const slot of next.slots) expect(live.some((lease) => lease.slot === slot)).toBe(false);
        }
      }
    });
  });

  test("the label is VERIFIED only where a judge of that very pass said so, and never where it did not", () => {
    always((births, steps) => {
      expect(walk(births, steps).states.some((state) => state.label === "VERIFIED")).toBe(false);
      const { states } = walk(births, steps, "VERIFIED");
      for (const state of states.filter((one) => one.label === "VERIFIED")) {
        expect(state.judgements.at(-1)).toMatchObject({ label: "VERIFIED" });
        expect(state.command).not.toBe("rejected");
        expect(state.rolledBack).toBe(false);
      }
    });
  });

  test("no command begins that was not approved, and none after it was rejected", () => {
    always((births, steps) => {
      const { lines, states } = walk(births, steps);
      for (const [at, line] of lines.entries()) {
        const runs = line.some((event) => event.type === "effect-began" && event.key.startsWith("run-command"));
        if (runs)
          expect((states[at - 1] as ChangeState).hasCommand ? states[at - 1]?.command : "approved").toBe("approved");
      }
    });
  });

  test("no coder is handed out before the plan was approved", () => {
    always((births, steps) => {
      const events = walk(births, steps).lines.flat();
      const coder = events.findIndex((event) => event.type === "leased" && event.slot === "coder");
      const approved = events.findIndex(
        (event) => event.type === "answered" && event.gate === "pre-code" && event.choice === "approve",
      );
      if (coder >= 0) expect(approved >= 0 && approved < coder).toBe(true);
    });
  });

  test("a choice that runs, writes, throws away or spends carries a human's grade, or the headless caller's", () => {
    always((births, steps) => {
      for (const event of walk(births, steps).lines.flat()) {
        if (event.type !== "answered") continue;
        const needs = /^(apply|discard|grant:.*)$/.test(event.choice) || event.gate === "approve-command";
        if (needs && event.choice !== "reject") {
          expect(births.form === "headless" ? ["typed", "headless-default"] : ["typed"]).toContain(event.grade);
        }
      }
    });
  });

  test("headless asks nobody on its way: a gate stays open only at its end or for gas", () => {
    always((births, steps) => {
      if (births.form !== "headless") return;
      for (const state of walk(births, steps).states) {
        if (state.gates.open !== null) expect(state.phase.at).toBe("ended");
      }
    });
  });

  test("an ended run owes nobody a lease, and nothing is handed out any more", () => {
    always((births, steps) => {
      const { lines, states } = walk(births, steps);
      const end = states.findIndex((state) => state.phase.at === "ended");
      if (end < 0) return;
      expect(
        lines
          .slice(end + 1)
          .flat()
          .some(isType("leased")),
      ).toBe(false);
      for (const state of states.slice(end)) expect(change.next(state).step).toBe("report");
    });
  });

  test("settling comes to rest", () => {
    always((births, steps) => {
      for (const state of walk(births, steps).states) {
        let now = state;
        let rounds = 0;
        for (
          let events = decideSettle(now, momentOf(1));
          events !== null;
          events = decideSettle(now, momentOf(rounds))
        ) {
          now = fold(now, events, 1);
          rounds += 1;
          expect(rounds).toBeLessThan(10);
        }
      }
    });
  });

  test("deciding is deterministic, and asks nothing but its arguments", () => {
    always((births, steps) => {
      for (const [at, { before, command }] of walk(births, steps).decisions.entries()) {
        const frozen = JSON.stringify(before);
        expect(decideChange(before, command, momentOf(at))).toEqual(decideChange(before, command, momentOf(at)));
        expect(JSON.stringify(before)).toBe(frozen);
      }
    });
  });

  test("a run killed after any line and folded anew is the run that lived on, from a snapshot as well", () => {
    always((births, steps) => {
      const { lines, states } = walk(births, steps);
      let anew = change.initial();
      for (const [at, line] of lines.entries()) {
        anew = fold(JSON.parse(JSON.stringify(anew)) as ChangeState, line, at);
        expect(anew).toEqual(states[at]);
      }
    });
  });

  test("an answer, a result or an ending given twice is taken once", () => {
    always((births, steps) => {
      const { decisions } = walk(births, steps);
      for (const [at, { before, command, decision }] of decisions.entries()) {
        if (!decision.ok || decision.value === null) continue;
        if (command.do !== "answer" && command.do !== "submit" && command.do !== "finish" && command.do !== "judge")
          continue;
        const after = fold(before, decision.value, 1);
        const again = decideChange(after, command, momentOf(at));
        // Refused or nothing to record; a plan may be handed in anew after "adjust", which asks for it.
        expect(again.ok ? again.value : null).toBeNull();
      }
    });
  });
});
