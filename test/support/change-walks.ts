/** Random walks of the change machine: every command a caller may give at any time, and those the engine gives. */
import type { EpochMs } from "../../scripts/core/ids.ts";
import type { Moment } from "../../scripts/core/kind.ts";
import { type ChangeCommand, type Decision, decideChange } from "../../scripts/kinds/change/decide.ts";
import type { ChangeEvent } from "../../scripts/kinds/change/events.ts";
import { change } from "../../scripts/kinds/change/kind.ts";
import {
  type ChangeEffect,
  type ChangeState,
  effectKey,
  LENSES,
  passOf,
  wantedCommand,
} from "../../scripts/kinds/change/state.ts";
import { changeSlots } from "../../scripts/parts/slots.ts";
import type { CommandRole } from "../../scripts/verify/command-role.ts";

export const owner = {
  machine: "m",
  boot: "b",
  namespace: "n",
  uid: 1,
  pid: 7,
  start: "1",
  host: "claude",
  session: "s",
} as const;

/** Deterministic: the same walk gives the same nonces. */
export function momentOf(seed: number): Moment {
  return {
    now: (1_800_000_000_000 + seed) as EpochMs,
    fresh: (label) => (seed * 8191 + label.length).toString(16).padStart(8, "0").slice(-8),
  };
}

export interface Birth {
  readonly form: "interactive" | "headless";
  readonly hasCommand: boolean;
  readonly missing: readonly string[];
  readonly gas: number;
}

export function birthEvents(birth: Birth): readonly ChangeEvent[] {
  const { form, hasCommand, missing, gas } = birth;
  const headless = form === "headless";
  return [
    { type: "born", kind: "change", origin: "atlas", form, digest: "d", root: "/r", top: null, commonDir: "/r/.git" },
    { type: "claimed", epoch: 1, version: 1, owner, why: "born", carried: [], exclusive: false },
    { type: "gas-granted", amount: gas, why: "birth" },
    {
      type: "opened",
      packet: "p",
      missing: headless ? [] : missing,
      assumed: headless ? missing : [],
      hasCommand,
      baseline: "c",
    },
    { type: "stage", stage: "INIT" },
  ];
}

/** One step of a walk: what is tried, and by which of its variants. */
export interface Move {
  readonly kind: number;
  readonly pick: number;
  readonly twist: number;
}

/** A line of the ledger: events decided together. */
export interface Walk {
  readonly lines: readonly (readonly ChangeEvent[])[];
  /** The fold after each line. */
  readonly states: readonly ChangeState[];
  /** Every decision, refusals included. */
  readonly decisions: readonly {
    readonly before: ChangeState;
    readonly command: ChangeCommand;
    readonly decision: Decision;
  }[];
}

export function fold(state: ChangeState, events: readonly ChangeEvent[], line: number): ChangeState {
  const mark = { sum: String(line).padStart(64, "0"), ts: "2026-01-01T00:00:00.000Z" };
  return events.reduce((now, event) => change.apply(now, event, mark), state);
}

/** `label`: what the judge says, when it is asked. */
export function walk(birth: Birth, moves: readonly Move[], label: "VERIFIED" | "UNVERIFIED" = "UNVERIFIED"): Walk {
  const lines = [birthEvents(birth)];
  const states = [fold(change.initial(), birthEvents(birth), 0)];
  const decisions: Walk["decisions"][number][] = [];
  for (const [at, move] of moves.entries()) {
    const before = states.at(-1) as ChangeState;
    const claimed = move.kind % 23 === 0 ? claim(before, move) : null;
    let events: readonly ChangeEvent[] | null = claimed;
    if (claimed === null) {
      const command = commandFor(before, move, label);
      const decision = decideChange(before, command, momentOf(at));
      decisions.push({ before, command, decision });
      events = decision.ok ? decision.value : null;
    }
    if (events === null) continue;
    states.push(fold(before, events, lines.length));
    lines.push(events);
  }
  return { lines, states, decisions };
}

function claim(state: ChangeState, move: Move): readonly ChangeEvent[] {
  const { epoch } = state.head;
  const live = state.leases.live.map((lease) => lease.lease);
  if (state.phase.at === "ended") return [];
  const carried = move.twist % 2 === 0 ? live : [];
  return [
    { type: "released", epoch, reason: "clear" },
    { type: "claimed", epoch: epoch + 1, version: 1, owner, why: "released", carried, exclusive: false },
  ];
}

const slots = Object.keys(changeSlots);
const choices = [
  "approve",
  "reject",
  "adjust",
  "cancel",
  "apply",
  "refine",
  "discard",
  "follow-up",
  "text",
  "stop",
  "grant:3",
];

/** Mostly what gets on, sometimes anything at all: a walk has to reach the far end and to knock at wrong doors. */
function commandFor(state: ChangeState, move: Move, label: "VERIFIED" | "UNVERIFIED"): ChangeCommand {
  const { pick, twist } = move;
  const at = <T>(list: readonly T[]): T => list[pick % list.length] as T;
  const wanted = usefulCommand(state, move, label);
  if (wanted !== null && move.kind % 4 !== 0) return wanted;
  switch (move.kind % 9) {
    case 0:
      return { do: "settle" };
    case 1:
      return { do: "hand-out" };
    case 2: {
      const tree = twist % 3 === 0 ? { tree: `t${twist}` } : {};
      const lease = twist % 2 === 0 ? null : (state.leases.live[0]?.lease ?? "scout#9@9");
      return { do: "submit", slot: at(slots), sha256: `h${twist % 5}`, bytes: 1, via: "root", lease, ...tree };
    }
    case 3:
      return { do: "fail", slot: at(slots), how: "timeout", stopped: twist % 2 === 0 };
    case 4:
      return { do: "end-lease", lease: state.leases.live[0]?.lease ?? "coder#9@9", why: at(["lost", "redo"] as const) };
    case 5:
      return {
        do: "answer",
        gate: state.gates.open?.gate ?? "output",
        choice: at(choices),
        grade: at(["typed", "relayed", "none"] as const),
      };
    case 6:
      return { do: "rollback", to: 1, tree: state.base ?? "b" };
    case 7:
      return { do: "judge", pass: passOf(state), label, refine: twist % 2 === 0, reasons: [], blocking: 0 };
    default:
      return { do: "finish", effect: anyEffect(state), outcome: outcomeOf(anyEffect(state), move) };
  }
}

function usefulCommand(state: ChangeState, move: Move, label: "VERIFIED" | "UNVERIFIED"): ChangeCommand | null {
  const { phase } = state;
  const { twist } = move;
  if (state.gates.open !== null) {
    const options = state.gates.open.options.map((option) => option.replace("<n>", "2"));
    const choice = options[move.pick % options.length] as string;
    const packet = { sha256: "q", assumed: ["scope_paths"], hasCommand: true };
    const more = state.gates.open.gate === "clarify" ? { packet } : {};
    const grade = twist % 6 === 0 ? "relayed" : "typed";
    return { do: "answer", gate: state.gates.open.gate, choice, grade, ...more };
  }
  if (state.effect !== null)
    return { do: "finish", effect: anyEffect(state), outcome: outcomeOf(anyEffect(state), move) };
  const [owed] = change.owed(state);
  if (owed !== undefined) return { do: "begin", key: effectKey(owed), performer: owner };
  const lease = state.leases.live[move.pick % Math.max(1, state.leases.live.length)];
  if (lease !== undefined) {
    if (twist % 5 === 0) return { do: "fail", slot: lease.slot, how: "error", stopped: true };
    if (twist % 7 === 0) return { do: "started", lease: lease.lease };
    const tree = lease.slot === "coder" ? { tree: `t${twist}` } : {};
    return { do: "submit", slot: lease.slot, sha256: `h${twist}`, bytes: 1, via: "hook", lease: lease.lease, ...tree };
  }
  if (phase.at === "triage" || phase.at === "plan") {
    return { do: "submit", slot: phase.at, sha256: `h${twist}`, bytes: 1, via: "root", lease: null };
  }
  if (phase.at === "verify" && wantedCommand(state) === null) {
    return { do: "evidence", pass: phase.pass, sha256: "e", ending: "exited" };
  }
  if (phase.at === "verify") {
    return {
      do: "begin",
      key: effectKey({ effect: "run-command", pass: phase.pass, of: wantedCommand(state) ?? "verify" }),
      performer: owner,
    };
  }
  if (phase.at === "critique" && LENSES.every((lens) => phase.critics[lens] !== "open")) {
    const refine = twist % 2 === 0 && phase.pass < 2;
    return { do: "judge", pass: phase.pass, label, refine, reasons: ["r"], blocking: refine ? 1 : 0 };
  }
  return move.pick % 2 === 0 ? { do: "settle" } : { do: "hand-out" };
}

/** The effect that is begun, else one that would come. */
function anyEffect(state: ChangeState): ChangeEffect {
  const key = state.effect?.key ?? "";
  const found = change.owed(state).find((effect) => effectKey(effect) === key);
  return found ?? { effect: "run-command", pass: passOf(state), of: "verify" };
}

function outcomeOf(effect: ChangeEffect, { twist }: Move): Extract<ChangeCommand, { do: "finish" }>["outcome"] {
  switch (effect.effect) {
    case "take-base":
      return { of: "take-base", tree: "base" };
    case "run-command":
      return twist % 4 === 0
        ? { of: "lost" }
        : { of: "run-command", sha256: "e", ending: "exited", more: moreOf(effect.of, twist) };
    case "deliver":
      return { of: "deliver", written: 1, left: twist % 2 };
    case "make-tree":
      return { of: "make-tree" };
    case "keep-tree":
      return twist % 3 === 0
        ? { of: "left", why: "tree.foreign" }
        : { of: "keep-tree", ref: "refs/atlas/r/kept", ignored: 0 };
    case "remove-tree":
      return { of: "gone" };
  }
}

/** What a command that ended may ask for: the second ones at most once, so that every walk comes to an end. */
function moreOf(of: CommandRole, twist: number): readonly CommandRole[] {
  if (of === "verify") return twist % 3 === 0 ? ["revert"] : twist % 3 === 1 ? ["baseline"] : [];
  return of === "revert" && twist % 2 === 0 ? ["baseline"] : [];
}
