import { describe, expect, test } from "vitest";
import { applyHead, claimToken, type Head, type HeadEvent, UNBORN } from "../../scripts/core/head.ts";
import type { Owner } from "../../scripts/core/owner.ts";
import { IllegalEvent } from "../../scripts/core/result.ts";

const owner: Owner = {
  machine: "m",
  boot: "b",
  namespace: "n",
  uid: 1,
  pid: 2,
  start: "3",
  host: "claude",
  session: "s",
};
const born: HeadEvent = {
  type: "born",
  kind: "change",
  origin: "atlas",
  form: "headless",
  digest: "d",
  root: "/p",
  top: null,
  commonDir: null,
};
const claimed = (epoch: number): HeadEvent => ({
  type: "claimed",
  epoch,
  version: 1,
  owner,
  why: "resume",
  carried: [],
  exclusive: false,
});
const released = (epoch: number): HeadEvent => ({ type: "released", epoch, reason: "clear" });
const abandoned: HeadEvent = { type: "abandoned", grade: "typed" };
const forked: HeadEvent = { type: "forked", from: "a", at: 3, id: "b" };

function fold(...events: readonly { readonly type: string }[]): Head {
  return events.reduce<Head>(
    (head, event, at) => applyHead(head, event, { sum: `${at}`.repeat(64), ts: `t${at}` }),
    UNBORN,
  );
}

describe("the head of a run", () => {
  test("every claim raises the epoch by one, and its token is the epoch and the claiming line's sum", () => {
    const head = fold(born, claimed(1), { type: "stage" }, claimed(2));
    expect(head).toMatchObject({ epoch: 2, owner, claimedAt: "t3", released: false, kind: "change", form: "headless" });
    expect(claimToken(head)).toBe("2.3333333333");
    expect(claimToken(fold(born, claimed(1), { type: "stage" }))).toBe("1.1111111111");
  });

  test("a release keeps the epoch and the owner's name, and the next claim ends it", () => {
    expect(fold(born, claimed(1), released(1))).toMatchObject({ epoch: 1, owner, released: true });
    expect(fold(born, claimed(1), released(1), claimed(2))).toMatchObject({ epoch: 2, released: false });
  });

  test("a fork belongs to nobody", () => {
    expect(fold(born, claimed(1), forked)).toMatchObject({ owner: null, released: true, epoch: 1 });
  });

  test("events of other parts leave it as it is", () => {
    const before = fold(born, claimed(1));
    expect(applyHead(before, { type: "gas-granted" }, { sum: "x", ts: "y" })).toBe(before);
  });

  test.each([
    ["anything before birth", [{ type: "stage" }]],
    ["a claim before birth", [claimed(1)]],
    ["a second birth", [born, born]],
    ["a claim of the same epoch", [born, claimed(1), claimed(1)]],
    ["a claim that skips an epoch", [born, claimed(2)]],
    ["a release of another epoch", [born, claimed(1), claimed(2), released(1)]],
    ["a claim after the end", [born, claimed(1), abandoned, claimed(2)]],
    ["a second end", [born, claimed(1), abandoned, abandoned]],
  ])("no legal history has %s", (_name, events) => {
    expect(() => fold(...events)).toThrow(IllegalEvent);
  });
});
