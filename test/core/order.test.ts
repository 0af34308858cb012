import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareRuns, isIsoTime, type Orderable } from "../../scripts/core/order.ts";
import { readRun, runsOf } from "../support/kimi-atlas.ts";

const runs = fc.record({
  ts: fc.constantFrom(null, "", "2026-11-30T17:28:02Z", "2026-11-30T17:28:02.5Z", "2026-11-30T17:28:02.05Z", "x"),
  graph: fc.boolean(),
  id: fc.constantFrom("a", "b", "A", "a1", "é"),
});

const ids = (list: readonly Orderable[]) => [...list].sort(compareRuns).map((run) => run.id);

describe("the order across runs", () => {
  test("the newest last line comes first", () => {
    const old = { ts: "2026-11-30T17:28:02Z", graph: true, id: "z" };
    expect(ids([old, { ts: "2026-11-30T17:28:03Z", graph: false, id: "a" }])).toEqual(["a", "z"]);
  });

  test("a fraction of a second later is later, though Z sorts after a full stop", () => {
    const whole = { ts: "2026-11-30T17:28:02Z", graph: true, id: "whole" };
    const part = (ts: string) => ({ ts, graph: false, id: ts });
    expect(ids([whole, part("2026-11-30T17:28:02.5Z"), part("2026-11-30T17:28:02.49Z")])).toEqual([
      "2026-11-30T17:28:02.5Z",
      "2026-11-30T17:28:02.49Z",
      "whole",
    ]);
  });

  test("at one time a graph comes before a single run, then the higher id", () => {
    const at = "2026-11-30T17:28:02Z";
    expect(
      ids([
        { ts: at, graph: false, id: "z" },
        { ts: at, graph: true, id: "a" },
        { ts: at, graph: true, id: "b" },
      ]),
    ).toEqual(["b", "a", "z"]);
  });

  test("a run without a time, or with something else in its place, comes last", () => {
    const timed = { ts: "1999-01-01T00:00:00Z", graph: false, id: "timed" };
    expect(ids([{ ts: null, graph: true, id: "none" }, timed])).toEqual(["timed", "none"]);
    expect(ids([{ ts: "9999; rm -rf /", graph: true, id: "hostile" }, timed])).toEqual(["timed", "hostile"]);
    expect(isIsoTime("2026-11-30T17:28:02Z\n")).toBe(false);
  });

  test("it is total: neither the order of reading nor anything outside the three decides", () => {
    fc.assert(
      fc.property(runs, runs, runs, (a, b, c) => {
        expect(Math.sign(compareRuns(a, b))).toBe(-Math.sign(compareRuns(b, a)) + 0);
        if (compareRuns(a, b) <= 0 && compareRuns(b, c) <= 0) expect(compareRuns(a, c)).toBeLessThanOrEqual(0);
        expect(compareRuns(a, { ...a })).toBe(0);
      }),
    );
  });

  test("of the original's five runs that ended in one second, the list is the same on every machine", () => {
    const list = runsOf("select-many").map((run) => {
      const read = readRun(run);
      return { ts: read.updatedTs, graph: read.graph, id: read.id };
    });
    const expected = ["old-graph", "new-graph", "done-graph", "older-single", "done-single"];
    expect(ids(list)).toEqual(expected);
    expect(ids(list.reverse())).toEqual(expected);
  });
});
