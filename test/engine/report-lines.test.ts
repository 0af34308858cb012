import { expect, test } from "vitest";
import type { EventBase } from "../../scripts/core/kind.ts";
import type { Line } from "../../scripts/core/line.ts";
import { readLines } from "../../scripts/engine/report-lines.ts";
import type { ChangeEvent } from "../../scripts/kinds/change/events.ts";

const owner = { machine: "m", boot: "b", namespace: "n", uid: 1, pid: 7, start: "1", host: "claude", session: "s" };
const performer = { machine: "m", boot: "b", namespace: "n", uid: 1, pid: 7, start: "1" };

function told(...lines: readonly (readonly unknown[])[]) {
  return readLines(lines.map((events, at) => ({ seq: at + 1, events }) as unknown as Line<EventBase>));
}
const stage = (name: string) => ({ type: "stage", stage: name });
const claimed = (epoch: number) => ({
  type: "claimed",
  epoch,
  version: 1,
  owner,
  why: "resume",
  carried: [],
  exclusive: false,
});
const leased = (slot: string, lease: string) => ({ type: "leased", slot, role: "r", lease, deadline: "", gasLeft: 1 });
const ended = (lease: string, why: string) => ({ type: "lease-ended", lease, why });
const filled = (slot: string, lease: string, via = "hook"): ChangeEvent =>
  ({ type: "filled", slot, pass: 0, sha256: "h", bytes: 1, via, lease }) as ChangeEvent;
const began = (key: string) => ({ type: "effect-began", key, epoch: 1, performer });
const measured = { type: "measured", pass: 0, of: "verify", sha256: "h", ending: "exited", more: [] };

test("a stage spans the lines after the one that completed the stage before", () => {
  expect(told([stage("INIT")], [], [stage("INTENT_CAPTURED")], [stage("TRIAGED")]).stages).toEqual([
    { stage: "INIT", fromSeq: 1, toSeq: 1 },
    { stage: "INTENT_CAPTURED", fromSeq: 2, toSeq: 3 },
    { stage: "TRIAGED", fromSeq: 4, toSeq: 4 },
  ]);
});

test("an answer of the dead turn that was taken was not done again; one that was lost was", () => {
  const { resumed, dispatches } = told(
    [claimed(1), stage("INIT")],
    [leased("scout", "scout#1@1"), leased("coder", "coder#1@1")],
    [claimed(2)],
    [filled("scout", "scout#1@1"), ended("scout#1@1", "taken")],
    [ended("coder#1@1", "lost")],
    [leased("coder", "coder#2@2")],
  );
  expect(resumed).toEqual([
    { epoch: 2, from: "INIT", seq: 3, why: "resume", adopted: ["INIT", "scout.0"], redone: ["coder"] },
  ]);
  expect(dispatches.map(({ lease, end }) => [lease, end])).toEqual([
    ["scout#1@1", "taken"],
    ["coder#1@1", "lost"],
    ["coder#2@2", "live"],
  ]);
});

test("a command that ran over the claim and ended was adopted; one whose performer was lost was run again", () => {
  const before = [[claimed(1)], [began("run-command:0")], [claimed(2)]] as const;
  expect(told(...before, [measured]).resumed[0]).toMatchObject({ adopted: ["run-command:0"], redone: [] });
  const lost = { type: "command-lost", pass: 0 };
  expect(told(...before, [lost], [began("run-command:0")], [measured]).resumed[0]).toMatchObject({
    adopted: [],
    redone: ["run-command:0"],
  });
  // Without a claim in between nothing was resumed.
  expect(told([claimed(1)], [began("run-command:0")], [measured]).resumed).toEqual([]);
});

test("what a foreign run had done before it was adopted stands as not done again, here and at every later claim", () => {
  const adopted = { type: "adopted", stage: "GROUNDED", stages: ["INIT", "GROUNDED"] };
  const { resumed } = told([claimed(1), adopted], [stage("CODED")], [claimed(2)]);
  expect(resumed).toEqual([
    { epoch: 1, from: "GROUNDED", seq: 1, why: "adopted", adopted: ["INIT", "GROUNDED"], redone: [] },
    { epoch: 2, from: "CODED", seq: 3, why: "resume", adopted: ["INIT", "GROUNDED", "CODED"], redone: [] },
  ]);
});

test("only an agent whose own last words a hook wrote counts as heard", () => {
  const { leases } = told(
    [leased("scout", "a"), leased("coder", "b")],
    [{ type: "lease-started", lease: "a" }, filled("scout", "a"), ended("a", "taken")],
    [filled("coder", "b", "relayed"), ended("b", "taken")],
  );
  expect([...leases.values()]).toEqual([
    { slot: "scout", ended: true, started: true, spoken: true },
    { slot: "coder", ended: true, started: false, spoken: false },
  ]);
});
