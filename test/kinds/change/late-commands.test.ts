/** A command made for one lease, attempt or question changes nothing of the one that stands when its line is written. */
import { describe, expect, test } from "vitest";
import { type ChangeCommand, decideChange } from "../../../scripts/kinds/change/decide.ts";
import type { ChangeEvent } from "../../../scripts/kinds/change/events.ts";
import { change } from "../../../scripts/kinds/change/kind.ts";
import type { ChangeState } from "../../../scripts/kinds/change/state.ts";
import { birthEvents, fold, momentOf, owner } from "../../support/change-walks.ts";

const baseTree = "a".repeat(40);
const product = "b".repeat(40);
const hash = "c".repeat(64);

interface Driven {
  readonly state: () => ChangeState;
  decide(command: ChangeCommand): ReturnType<typeof decideChange>;
  /** Decides and records; throws for a refusal. */
  step(command: ChangeCommand): void;
  record(...events: readonly ChangeEvent[]): void;
}

function drive(born: readonly ChangeEvent[]): Driven {
  let line = 1;
  let state = fold(change.initial(), born, line);
  const record = (...events: readonly ChangeEvent[]): void => {
    line += 1;
    state = fold(state, events, line);
  };
  const decide = (command: ChangeCommand) => decideChange(state, command, momentOf(line));
  return {
    state: () => state,
    decide,
    step(command) {
      const decision = decide(command);
      if (!decision.ok) throw new Error(`${command.do}: ${decision.error.code}`);
      if (decision.value !== null) record(...decision.value);
    },
    record,
  };
}

function scouting(): Driven {
  const run = drive(birthEvents({ form: "headless", hasCommand: true, missing: [], gas: 48 }));
  run.step({ do: "settle" });
  run.step({ do: "submit", slot: "triage", sha256: hash, bytes: 1, via: "root", lease: null });
  run.step({ do: "settle" });
  run.step({ do: "hand-out" });
  return run;
}

/** An adopted run whose finished work was taken into a tree of its own. */
function adopted(stage: "CODED" | "VERIFIED", hasCommand: boolean): Driven {
  const [, claimed] = birthEvents({ form: "interactive", hasCommand, missing: [], gas: 48 });
  const run = drive([
    {
      type: "born",
      kind: "change",
      origin: "kimi-atlas",
      form: "interactive",
      digest: "d",
      root: "/r",
      top: null,
      commonDir: "/r/.git",
    },
    claimed as ChangeEvent,
    { type: "gas-granted", amount: 48, why: "adopted" },
    {
      type: "adopted",
      stage,
      pass: 0,
      stages: ["INIT", "INTENT_CAPTURED", "TRIAGED", "GROUNDED", "CODED"],
      packet: hash,
      hasCommand,
      baseline: baseTree,
      losses: [],
      files: [],
      foreign: "f",
      trees: ["worktree"],
    },
    { type: "tree-wanted", name: "worktree", from: null, foreign: true },
  ]);
  run.record({ type: "tree-kept", name: "worktree", ref: "refs/x", tree: product, ignored: 0 });
  run.record({ type: "tree-removed", name: "worktree" });
  if (hasCommand && stage === "CODED") {
    run.step({ do: "settle" });
    run.step({ do: "answer", gate: "approve-command", choice: "approve", grade: "typed" });
  }
  run.record({ type: "based", tree: baseTree });
  run.step({ do: "settle" });
  run.record({ type: "tree-ready", name: "e1.1" });
  run.step({ do: "settle" });
  return run;
}

const command = { effect: "run-command", pass: 0, of: "verify" } as const;
const key = "run-command:0";
const ticket = (nonce: string) => ({ nonce, seal: hash, file: "e1.a1" });

describe("made for a lease that has ended", () => {
  test("a bad ending ends no lease handed out after it, so an attempt is counted once", () => {
    const run = scouting();
    const late: ChangeCommand = { do: "fail", slot: "scout", how: "timeout", stopped: false, of: "scout#1@1" };
    run.step(late);
    run.step({ do: "hand-out" });
    expect(run.decide(late)).toMatchObject({ ok: false, error: { code: "lease.stale" } });
    expect(run.state().phase).toEqual({ at: "scout", failures: 1 });
    expect(run.state().leases.live).toMatchObject([{ lease: "scout#2@1" }]);
  });

  test("an artifact is not taken for the lease that is out now, whatever tree it was looked at with", () => {
    const run = scouting();
    const late = { do: "submit", slot: "scout", sha256: hash, bytes: 1, via: "hook", lease: null } as const;
    run.step({ do: "end-lease", lease: "scout#1@1", why: "redo" });
    run.step({ do: "hand-out" });
    expect(run.decide({ ...late, of: "scout#1@1" })).toMatchObject({ ok: false, error: { code: "lease.stale" } });
    run.step({ ...late, of: "scout#2@1" });
    expect(run.state().phase.at).toBe("plan");
  });
});

describe("made for another attempt of the command", () => {
  test("a command that is begun is not begun beside itself", () => {
    const run = adopted("CODED", true);
    expect(run.state().phase.at).toBe("verify");
    run.step({ do: "begin", key, performer: owner, ticket: ticket("one") });
    expect(run.decide({ do: "begin", key, performer: owner, ticket: ticket("two") })).toEqual({
      ok: true,
      value: null,
    });
  });

  test("a loss that was seen of one attempt ends no later one", () => {
    const run = adopted("CODED", true);
    run.step({ do: "begin", key, performer: owner, ticket: ticket("one") });
    const late: ChangeCommand = { do: "finish", effect: command, outcome: { of: "lost" }, nonce: "one" };
    run.step(late);
    run.step({ do: "begin", key, performer: owner, ticket: ticket("two") });
    expect(run.decide(late)).toEqual({ ok: true, value: null });
    run.step({ ...late, nonce: "two" });
    expect(run.state().phase).toMatchObject({ at: "verify", losses: 2 });
  });
});

describe("a question that is open when the run goes elsewhere", () => {
  function atOutput(): Driven {
    const run = adopted("VERIFIED", true);
    run.step({ do: "settle" });
    run.step({ do: "settle" });
    expect(run.state().gates.open).toMatchObject({ gate: "output" });
    return run;
  }

  test("is asked anew after a rollback, and its answer ends the run", () => {
    const run = atOutput();
    const before = run.state().gates.open?.nonce as string;
    run.step({ do: "rollback", to: 4, tree: baseTree });
    expect(
      run.decide({ do: "answer", gate: "output", choice: "discard", grade: "typed", nonce: before }),
    ).toMatchObject({ ok: false, error: { code: "gate.not_open" } });
    run.record({ type: "tree-kept", name: "e1.1", ref: "refs/y", ignored: 0 }, { type: "tree-removed", name: "e1.1" });
    run.step({ do: "settle" });
    expect(run.state().trees.all.at(-1)).toMatchObject({ name: "e1.2", from: baseTree });
    run.record({ type: "tree-ready", name: "e1.2" });
    for (let count = 0; count < 3; count += 1) run.step({ do: "settle" });
    expect([run.state().label, run.state().reasons]).toEqual(["UNVERIFIED", ["rolled.back"]]);
    run.step({ do: "answer", gate: "output", choice: "discard", grade: "typed" });
    deliver(run, "discard");
    expect(run.state().phase).toMatchObject({ at: "ended", choice: "discard" });
  });

  test("is not the fork's: what a human said to the parent answers nothing there", () => {
    const run = atOutput();
    const before = run.state().gates.open?.nonce as string;
    run.record({ type: "forked", from: "r", at: 9, id: "s" });
    const answer = { do: "answer", gate: "output", choice: "apply", grade: "typed" } as const;
    expect(run.decide({ ...answer, nonce: before })).toMatchObject({ ok: false, error: { code: "gate.not_open" } });
    run.step({ do: "settle" });
    run.record({ type: "tree-ready", name: run.state().trees.all.at(-1)?.name as string });
    for (let count = 0; count < 2; count += 1) run.step({ do: "settle" });
    expect(run.state().gates.open?.gate).toBe("output");
    run.step(answer);
    deliver(run, "apply");
    expect(run.state().phase.at).toBe("ended");
  });
});

/** What the human chose is done, as an effect of its own. */
function deliver(run: Driven, choice: "apply" | "discard"): void {
  expect(run.state().phase.at).toBe("deliver");
  run.step({ do: "begin", key: `deliver:${choice}`, performer: owner });
  run.step({
    do: "finish",
    effect: { effect: "deliver", choice },
    outcome: { of: "deliver", written: 1, left: 0 },
  });
}

test("a coder that is given up leaves a tree nobody codes in again: it is kept, and a rollback from there is legal", () => {
  const run = adopted("CODED", false);
  run.step({ do: "evidence", pass: 0, sha256: hash, ending: "unstarted" });
  run.step({ do: "hand-out" });
  for (const slot of ["correctness", "code-quality", "security"]) {
    run.step({ do: "submit", slot, sha256: hash, bytes: 1, via: "hook", lease: null });
  }
  run.step({ do: "judge", pass: 0, label: "UNVERIFIED", refine: true, reasons: [], blocking: 1 });
  run.step({ do: "settle" });
  run.step({ do: "settle" });
  const tries = [
    ["e1.1", "e1.2"],
    ["e1.2", "e1.3"],
  ] as const;
  for (const [now, then] of tries) {
    run.step({ do: "hand-out" });
    expect(run.state().phase).toMatchObject({ at: "code", tree: now });
    run.step({ do: "fail", slot: "coder", how: "timeout", stopped: false });
    expect(run.state().trees.all.at(-1)).toMatchObject({ name: now, status: "stale" });
    run.record({ type: "tree-kept", name: now, ref: "refs/y", ignored: 0 }, { type: "tree-removed", name: now });
    if (then === "e1.3") break;
    run.step({ do: "settle" });
    run.record({ type: "tree-ready", name: then });
    run.step({ do: "settle" });
  }
  run.step({ do: "settle" });
  run.step({ do: "settle" });
  expect([run.state().phase.at, run.state().reasons]).toEqual(["output", ["coder.failed"]]);
  expect(run.decide({ do: "rollback", to: 4, tree: product }).ok).toBe(true);
  run.step({ do: "answer", gate: "output", choice: "refine", grade: "typed" });
  run.step({ do: "settle" });
  expect(run.state().trees.all.at(-1)).toMatchObject({ name: "e1.3", status: "wanted", from: product });
});
