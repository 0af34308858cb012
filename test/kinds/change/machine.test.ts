/** The machine of a change run, phase by event: the table as this page gives it, and nothing beside it. */
import { describe, expect, test } from "vitest";
import type { ChangeEvent } from "../../../scripts/kinds/change/events.ts";
import { change } from "../../../scripts/kinds/change/kind.ts";
import type { ChangeState, Phase } from "../../../scripts/kinds/change/state.ts";
import { nextPhase } from "../../../scripts/kinds/change/transitions.ts";
import { birthEvents, fold, momentOf, owner } from "../../support/change-walks.ts";

const lease = { slot: "scout", role: "context-scout", lease: "scout#1@1", deadline: "d", gasLeft: 1 } as const;
const answer = (gate: "clarify" | "pre-code" | "approve-command" | "output" | "gas", choice: string): ChangeEvent => ({
  type: "answered",
  gate,
  nonce: "n",
  choice,
  grade: "typed",
});

/** One event of each type, in the form that is most likely to be taken. */
const events: { readonly [T in ChangeEvent["type"]]: Extract<ChangeEvent, { type: T }> } = {
  born: birthEvents({ form: "headless", hasCommand: true, missing: [], gas: 1 })[0] as Extract<
    ChangeEvent,
    { type: "born" }
  >,
  claimed: { type: "claimed", epoch: 2, version: 1, owner, why: "resume", carried: [], exclusive: false },
  released: { type: "released", epoch: 1, reason: "clear" },
  abandoned: { type: "abandoned", grade: "typed" },
  forked: { type: "forked", from: "r", at: 1, id: "s" },
  "gas-granted": { type: "gas-granted", amount: 1, why: "gate" },
  leased: { type: "leased", ...lease },
  "lease-started": { type: "lease-started", lease: lease.lease },
  "lease-ended": { type: "lease-ended", lease: lease.lease, why: "taken" },
  asked: { type: "asked", gate: "output", nonce: "n", options: ["apply"] },
  answered: answer("pre-code", "approve") as Extract<ChangeEvent, { type: "answered" }>,
  "tree-wanted": { type: "tree-wanted", name: "e1.1", from: null, foreign: false },
  "tree-ready": { type: "tree-ready", name: "e1.1" },
  "tree-staled": { type: "tree-staled", name: "e1.1" },
  "tree-kept": { type: "tree-kept", name: "e1.1", ref: "refs/x", ignored: 0 },
  "tree-removed": { type: "tree-removed", name: "e1.1" },
  "tree-left": { type: "tree-left", name: "e1.1", why: "w" },
  "effect-began": { type: "effect-began", key: "take-base", epoch: 1, performer: owner },
  "effect-ended": { type: "effect-ended", key: "take-base", outcome: "done" },
  opened: { type: "opened", packet: "p", missing: [], assumed: [], hasCommand: true, baseline: null },
  adopted: {
    type: "adopted",
    stage: "TRIAGED",
    pass: 0,
    stages: ["INIT"],
    packet: "p",
    hasCommand: true,
    baseline: null,
    losses: [],
    files: [],
    foreign: "f",
    trees: [],
  },
  "packet-set": { type: "packet-set", packet: "p", assumed: [], hasCommand: true, baseline: null },
  stage: { type: "stage", stage: "OUTPUT" },
  filled: { type: "filled", slot: "correctness", pass: 0, sha256: "h", bytes: 1, via: "hook", lease: null },
  degraded: { type: "degraded", slot: "correctness", pass: 0, why: "timeout" },
  based: { type: "based", tree: "t" },
  prepared: { type: "prepared", tree: null },
  "delivery-wanted": { type: "delivery-wanted", choice: "apply" },
  delivered: { type: "delivered", choice: "apply", written: 1, left: 0 },
  measured: { type: "measured", pass: 0, of: "verify", sha256: "m", ending: "exited", more: [] },
  evidence: { type: "evidence", pass: 0, sha256: "e", ending: "exited" },
  "rolled-back": { type: "rolled-back", to: 1, tree: "t" },
  "command-lost": { type: "command-lost", pass: 0 },
  judged: { type: "judged", pass: 0, label: "UNVERIFIED", refine: false, reasons: [], blocking: 0 },
  labelled: { type: "labelled", label: "UNVERIFIED", reasons: [] },
  ended: { type: "ended", status: "unverified", choice: null },
};

const own = { pass: 0, tree: "e1.1" } as const;
const noFailures = { correctness: 0, "code-quality": 0, security: 0 };
const open = { correctness: "open", "code-quality": "open", security: "open" } as const;
const phases: { readonly [A in Phase["at"]]: Extract<Phase, { at: A }> } = {
  unborn: { at: "unborn" },
  intake: { at: "intake" },
  recover: { at: "recover", stage: "CODED", pass: 0 },
  clarify: { at: "clarify" },
  triage: { at: "triage" },
  scout: { at: "scout", failures: 0 },
  plan: { at: "plan", adjusted: false },
  "pre-code": { at: "pre-code", adjusted: false },
  approve: { at: "approve", then: "code", pass: 0 },
  prepare: { at: "prepare", then: { at: "code", pass: 0, tree: null, failures: 0 } },
  code: { at: "code", ...own, failures: 0 },
  verify: { at: "verify", ...own, losses: 0, done: [], more: [] },
  critique: { at: "critique", ...own, critics: open, failures: noFailures },
  judged: { at: "judged", ...own, refine: true },
  output: { at: "output", ...own },
  deliver: { at: "deliver", pass: 0 },
  ended: { at: "ended", status: "unverified", choice: null },
};

/** Facts that may be recorded in any phase and move none of them. */
const anywhere = new Set<string>(
  (
    "born claimed released gas-granted leased lease-started lease-ended asked tree-wanted tree-ready tree-staled " +
    "tree-kept tree-removed tree-left effect-began effect-ended based forked abandoned"
  ).split(" "),
);

/** What else a phase takes. A label ends any phase that has begun: the gas gate's "stop" can come anywhere. */
const taken: { readonly [A in Phase["at"]]: string } = {
  unborn: "opened adopted",
  intake: "filled stage labelled",
  recover: "filled packet-set labelled",
  clarify: "answered packet-set stage labelled",
  triage: "filled stage labelled",
  scout: "filled degraded stage labelled",
  plan: "filled labelled",
  "pre-code": "answered labelled",
  approve: "answered labelled",
  prepare: "prepared labelled",
  code: "filled degraded stage labelled rolled-back",
  verify: "command-lost evidence labelled measured rolled-back",
  critique: "filled degraded judged stage labelled rolled-back",
  judged: "stage labelled rolled-back",
  output: "answered delivery-wanted stage ended labelled rolled-back",
  deliver: "delivered stage ended",
  ended: "answered delivery-wanted delivered labelled stage ended",
};

/** The stage a phase completes; any other is illegal there. */
const stageOf: Partial<Record<Phase["at"], readonly string[]>> = {
  intake: ["INIT", "INTENT_CAPTURED"],
  clarify: ["CLARIFY"],
  triage: ["TRIAGED"],
  scout: ["GROUNDED"],
  code: ["CODED"],
  critique: ["VERIFIED"],
  judged: ["REFINE"],
  output: ["OUTPUT", "REFINE"],
  deliver: ["OUTPUT"],
  ended: ["OUTPUT"],
};
const stages = ["INIT", "INTENT_CAPTURED", "CLARIFY", "TRIAGED", "GROUNDED", "CODED", "VERIFIED", "REFINE", "OUTPUT"];

/** A state in which everything the phase could wait for is there, so that only the table decides. */
function stateAt(phase: Phase): ChangeState {
  const born = fold(change.initial(), birthEvents({ form: "headless", hasCommand: true, missing: [], gas: 9 }), 0);
  const filled = { sha256: "h", bytes: 1, via: "root" } as const;
  const judgement = { pass: 0, label: "UNVERIFIED", refine: false, reasons: [], blocking: 0 } as const;
  return {
    ...born,
    phase,
    filled: { "triage.0": filled, "scout.0": filled, "coder.0": filled },
    judgements: [judgement],
    command: "approved",
    delivery: { choice: "apply", done: true, written: 1, left: 0 },
  };
}

describe.each(Object.entries(phases))("in phase %s", (name, phase) => {
  const at = name as Phase["at"];
  const mayTake = new Set(taken[at].split(" "));

  test("takes what the table lists; anything else throws and names both", () => {
    for (const event of Object.values(events)) {
      if (event.type === "stage") continue;
      const legal = anywhere.has(event.type) || mayTake.has(event.type);
      const take = (): Phase => nextPhase(stateAt(phase), event);
      if (legal) expect(take, event.type).not.toThrow();
      else expect(take, event.type).toThrow(`event "${event.type}" is not legal in state "${at}"`);
    }
  });

  test("completes its own stage and no other", () => {
    for (const stage of stages) {
      const take = (): Phase => nextPhase(stateAt(phase), { type: "stage", stage } as ChangeEvent);
      if (stageOf[at]?.includes(stage)) expect(take, stage).not.toThrow();
      else expect(take, stage).toThrow(/^event "stage( [A-Z_]+)?" is not legal in state "[a-z-]+"$/);
    }
  });

  test("only ever gives phases that are there", () => {
    for (const event of Object.values(events)) {
      let after: Phase;
      try {
        after = nextPhase(stateAt(phase), event);
      } catch {
        continue;
      }
      expect(Object.keys(phases)).toContain(after.at);
    }
  });
});

describe("the machine", () => {
  test("a third pass of refining is illegal", () => {
    const judged = stateAt({ at: "judged", pass: 2, tree: null, refine: true });
    expect(() => nextPhase(judged, { type: "stage", stage: "REFINE" })).toThrow("REFINE");
    const output = stateAt({ at: "output", pass: 2, tree: null });
    expect(() => nextPhase(output, { type: "stage", stage: "REFINE" })).toThrow("REFINE");
  });

  test("nothing of a run is before its birth, and nothing after it was abandoned", () => {
    expect(() => fold(change.initial(), [events.opened], 1)).toThrow('not legal in state "unborn"');
    const born = stateAt(phases.scout);
    const abandoned = fold(born, [events.abandoned], 1);
    expect(abandoned.phase).toMatchObject({ at: "ended", status: "abandoned" });
    expect(() => fold(abandoned, [events.claimed], 2)).toThrow("abandoned");
  });

  // Coded before it was rejected, as an adopted run may be.
  test.each([[[]], [["CODED"]]] as const)("a rejected command is not run by refining either (coded: %s)", (done) => {
    const rejected: ChangeState = {
      ...stateAt({ at: "judged", pass: 0, tree: null, refine: false }),
      form: "interactive",
      command: "rejected",
      stages: done,
    };
    const labelled = change.decide(rejected, { do: "settle" }, momentOf(1));
    expect(labelled).toMatchObject({ value: [{ type: "labelled", reasons: ["command.rejected"] }] });
    const output = fold(rejected, [events.labelled], 1);
    const asked = change.decide(output, { do: "settle" }, momentOf(2));
    expect(asked.ok && asked.value).toMatchObject([{ type: "asked", options: ["apply", "discard", "follow-up"] }]);
  });

  test("stopping for want of gas opens no way around the plan's gate", () => {
    const asked = fold(
      { ...stateAt(phases.scout), form: "interactive" },
      [{ ...events.asked, gate: "gas", options: ["stop"] }],
      1,
    );
    const stop = { do: "answer", gate: "gas", choice: "stop", grade: "relayed" } as const;
    const stopped = change.decide(asked, stop, momentOf(1));
    const output = fold(asked, stopped.ok ? (stopped.value ?? []) : [], 2);
    expect(output).toMatchObject({ phase: { at: "output" }, reasons: ["gas.exhausted"] });
    const offered = change.decide(output, { do: "settle" }, momentOf(2));
    expect(offered.ok && offered.value).toMatchObject([{ options: ["apply", "discard", "follow-up"] }]);
  });

  test("nothing is rolled back under an effect that is begun", () => {
    const begun = fold(stateAt(phases.verify), [{ ...events["effect-began"], key: "run-command:0" }], 1);
    const refused = change.decide(begun, { do: "rollback", to: 1, tree: "t" }, momentOf(1));
    expect(refused).toMatchObject({ ok: false, error: { code: "effect.running" } });
  });

  test("what is out comes in before gas is asked for", () => {
    const critique = stateAt(phases.critique);
    const poor: ChangeState = { ...critique, form: "interactive", gas: { granted: 1, charged: 0 } };
    const handed = change.decide(poor, { do: "hand-out" }, momentOf(1));
    expect(handed.ok && handed.value).toMatchObject([{ type: "leased", slot: "correctness", gasLeft: 0 }]);
    const out = fold(poor, handed.ok ? (handed.value ?? []) : [], 1);
    expect(change.decide(out, { do: "hand-out" }, momentOf(2))).toEqual({ ok: true, value: null });
    expect(change.next(out)).toEqual({ step: "dispatch", leases: ["correctness#1@1"] });
    const started = fold(out, [{ type: "lease-started", lease: "correctness#1@1" }], 2);
    expect(change.next(started)).toEqual({ step: "await", slots: ["correctness"] });
    const back = fold(started, [{ type: "lease-ended", lease: "correctness#1@1", why: "redo" }], 3);
    const asked = change.decide(back, { do: "hand-out" }, momentOf(3));
    expect(asked.ok && asked.value).toMatchObject([{ type: "asked", gate: "gas" }]);
  });

  test("headless out of gas ends unverified, and says so", () => {
    const dry: ChangeState = { ...stateAt(phases.scout), gas: { granted: 3, charged: 3 } };
    const ended = change.decide(dry, { do: "hand-out" }, momentOf(1));
    expect(ended.ok && ended.value).toMatchObject([
      { type: "labelled", label: "UNVERIFIED", reasons: ["gas.exhausted"] },
      { type: "asked", gate: "output" },
      { type: "stage", stage: "OUTPUT" },
      { type: "ended", status: "unverified" },
    ]);
  });

  test("nothing is handed in where no lease is out, nor while a gate is open", () => {
    const submit = { do: "submit", slot: "scout", sha256: "x", bytes: 1, via: "hook", lease: null } as const;
    const code = (state: ChangeState) => {
      const decided = change.decide(state, submit, momentOf(1));
      return decided.ok ? "taken" : decided.error.code;
    };
    const bare: ChangeState = { ...stateAt(phases.scout), filled: {} };
    expect(code(bare)).toBe("lease.none");
    const out = fold(bare, [events.leased], 1);
    expect(code(out)).toBe("taken");
    expect(code(fold(out, [events.asked], 2))).toBe("gate.open");
    expect(code(fold(out, [events["lease-ended"]], 2))).toBe("lease.none");
  });

  test("what another command recorded first is not recorded again", () => {
    const verify = stateAt(phases.verify);
    const effect = { effect: "run-command", pass: 0, of: "verify" } as const;
    const outcome = { of: "run-command", sha256: "e", ending: "exited", more: [] } as const;
    expect(change.decide(verify, { do: "finish", effect, outcome }, momentOf(1))).toEqual({ ok: true, value: null });
    const code = stateAt(phases.code);
    for (const key of ["run-command:0", "take-base", "make-tree:e1.1"]) {
      expect(change.decide(code, { do: "begin", key, performer: owner }, momentOf(1)), key).toEqual({
        ok: true,
        value: null,
      });
    }
    const judge = { do: "judge", pass: 0, label: "UNVERIFIED", refine: false, reasons: [], blocking: 0 } as const;
    expect(change.decide(stateAt(phases.judged), judge, momentOf(1))).toEqual({ ok: true, value: null });
    expect(change.decide(stateAt(phases.critique), judge, momentOf(1))).toEqual({ ok: true, value: null });
  });

  test("coding anew lifts a rollback, nothing else does", () => {
    const rolled: ChangeState = { ...stateAt(phases.code), rolledBack: true };
    expect(fold(rolled, [{ type: "based", tree: "x" }], 1).rolledBack).toBe(true);
    expect(fold(rolled, [{ type: "stage", stage: "CODED" }], 1).rolledBack).toBe(false);
  });
});
