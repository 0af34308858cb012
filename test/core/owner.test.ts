/** Who counts as gone: only on proof, and never by a clock. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSameProcess, liveness, type Owner, type ProcessIdentity, type Sighting } from "../../scripts/core/owner.ts";

const here: ProcessIdentity = { machine: "m", boot: "b", namespace: "n", uid: 7, pid: 100, start: "5" };
const owner: Owner = { ...here, pid: 42, start: "9", host: "claude", session: "s" };

/** `startOfPid`: of what now has the owner's pid here. */
function seen(
  changes: Partial<Owner>,
  startOfPid: string | null,
  exclusive = false,
  at: Partial<ProcessIdentity> = {},
) {
  return liveness({ ...owner, ...changes }, { here: { ...here, ...at }, startOfPid, exclusive });
}

describe("an owner", () => {
  test("is ourselves only as the same process of the same boot of the same machine", () => {
    expect(seen({ pid: 100, start: "5" }, "5")).toBe("ourselves");
    expect(seen({ pid: 100, start: "4" }, "5")).toBe("gone");
    expect(seen({ pid: 100, start: "5", boot: "c" }, "5")).toBe("gone");
    expect(seen({ pid: 100, start: "5", uid: 8 }, "5")).toBe("alive");
  });

  test("lives while its pid has its start time", () => {
    expect(seen({}, "9")).toBe("alive");
  });

  test("is gone when nobody has its pid, or somebody else has it now", () => {
    expect(seen({}, null)).toBe("gone");
    expect(seen({}, "10")).toBe("gone");
  });

  test("of another boot of this machine is gone, whoever has its pid now", () => {
    expect(seen({ boot: "before" }, "9")).toBe("gone");
  });

  test("of another machine counts as alive, whatever is or is not here", () => {
    expect(seen({ machine: "other" }, null)).toBe("alive");
    expect(seen({ machine: "other", boot: "before" }, null)).toBe("alive");
    expect(seen({ machine: "other" }, null, true)).toBe("alive");
  });

  test("of another pid namespace or without machine or process is gone only where one container a folder is promised", () => {
    for (const changes of [{ namespace: "elsewhere" }, { machine: null }, { pid: null, start: null }]) {
      expect(seen(changes, null), JSON.stringify(changes)).toBe("alive");
      expect(seen(changes, null, true), JSON.stringify(changes)).toBe("gone");
    }
    expect(seen({}, null, false, { machine: null })).toBe("alive");
    expect(seen({}, null, true, { machine: null })).toBe("gone");
  });

  test("of another user counts as alive", () => {
    expect(seen({ uid: 8 }, null)).toBe("alive");
  });

  test("that lives here lives, promise or not", () => {
    expect(seen({}, "9", true)).toBe("alive");
  });
});

const some = fc.constantFrom("a", "b");
const maybe = fc.constantFrom("a", "b", null);
const identity: fc.Arbitrary<ProcessIdentity> = fc.record({
  machine: maybe,
  boot: maybe,
  namespace: maybe,
  uid: fc.constantFrom(1, 2, null),
  pid: fc.constantFrom(1, 2, null),
  start: maybe,
});
const sighting: fc.Arbitrary<Sighting> = fc.record({
  here: identity,
  startOfPid: fc.constantFrom("a", "b", null),
  exclusive: fc.boolean(),
});

describe("in every case", () => {
  test("gone without the promise is gone on this very machine, by its boot or by its pid", () => {
    fc.assert(
      fc.property(identity, sighting, some, (whose, sight, session) => {
        const is = liveness({ ...whose, host: "claude", session }, { ...sight, exclusive: false });
        if (is !== "gone") return;
        expect(whose.machine).not.toBeNull();
        expect(whose.machine).toBe(sight.here.machine);
        expect(whose.boot !== sight.here.boot || whose.start !== sight.startOfPid || whose.start === null).toBe(true);
      }),
    );
  });

  test("the session decides nothing about a process, and the promise never makes the dead alive", () => {
    fc.assert(
      fc.property(identity, sighting, (whose, sight) => {
        const as = (session: string | null, exclusive: boolean) =>
          liveness({ ...whose, host: "kimi", session }, { ...sight, exclusive });
        expect(as("a", sight.exclusive)).toBe(as(null, sight.exclusive));
        if (as(null, false) === "gone") expect(as(null, true)).toBe("gone");
        if (as(null, true) === "alive") expect(as(null, false)).toBe("alive");
      }),
    );
  });

  test("two are one process only if every part is known to agree", () => {
    fc.assert(
      fc.property(identity, identity, (a, b) => {
        expect(isSameProcess(a, b)).toBe(isSameProcess(b, a));
        if (isSameProcess(a, b)) expect(a).toEqual(b);
        expect(isSameProcess(a, a)).toBe(a.pid !== null && a.start !== null);
      }),
    );
  });
});
