import type { EpochMs } from "./ids.ts";
import type { NonEmpty, Refusal, Result } from "./result.ts";
import type { Shape } from "./shape.ts";

/** Captured once per command and passed down as a value: the pure floors have no clock and no randomness. */
export interface Moment {
  readonly now: EpochMs;
  /** Random lower-case hex, 8 digits; the label only tells uses apart in tests. */
  readonly fresh: (label: string) => string;
}

/** One agent to start. Paths are absolute. */
export interface Dispatch {
  readonly slot: string;
  readonly role: string;
  /** The packet file the agent reads. */
  readonly packet: string;
  /** Where the agent's result is expected. */
  readonly result: string;
  /** `<slot>#<attempt>@<epoch>` */
  readonly lease: string;
  /** ISO time after which the lease may be ended. */
  readonly deadline: string;
  /** The whole prompt for the agent, one line. */
  readonly prompt: string;
  /** The command that hands its result in. */
  readonly then: string;
}

/** The one thing to do next. Commands hold ids and enumerations only. */
export type Instruction =
  | { readonly do: "dispatch"; readonly agents: NonEmpty<Dispatch>; readonly then: string }
  | {
      readonly do: "submit";
      readonly slot: string;
      readonly recipe: string;
      /** The sheet with what the slot is written from: request, criteria, findings. All of it data. */
      readonly packet: string;
      readonly result: string;
      readonly then: string;
    }
  | { readonly do: "await"; readonly slots: NonEmpty<string>; readonly then: string; readonly lost: string }
  | {
      readonly do: "ask";
      readonly gate: string;
      readonly nonce: string;
      readonly question: string;
      readonly options: readonly string[];
      /** What each option means, in their order. */
      readonly meanings: readonly string[];
      readonly recipe: string;
      /** The sheet with what the human must see before answering. */
      readonly packet: string;
      readonly then: string;
    }
  | { readonly do: "run"; readonly command: string }
  | { readonly do: "wait"; readonly until: string; readonly why: string; readonly then: string }
  | {
      readonly do: "report";
      readonly status: "verified" | "unverified" | "abandoned";
      readonly artifact: string | null;
      readonly why?: readonly string[];
    }
  | { readonly do: "nothing"; readonly why: string };

/** What a kind says is next, before the engine puts paths, claims and commands to it. */
export type Step =
  /** These slots must be leased (and charged) before their work may be printed. */
  | { readonly step: "hand-out"; readonly slots: readonly string[] }
  | { readonly step: "dispatch"; readonly leases: readonly string[] }
  | { readonly step: "await"; readonly slots: readonly string[] }
  | { readonly step: "submit"; readonly slot: string; readonly recipe: string }
  | { readonly step: "ask"; readonly gate: string; readonly nonce: string; readonly options: readonly string[] }
  | { readonly step: "run"; readonly verb: "verify" }
  | { readonly step: "wait"; readonly why: string }
  | { readonly step: "report"; readonly status: "verified" | "unverified" | "abandoned" }
  | { readonly step: "nothing"; readonly why: string }
  /** Something only a settling command may do comes first. */
  | { readonly step: "settle" };

/** The line an event stands in. */
export interface LineMark {
  readonly sum: string;
  readonly ts: string;
}

/** Any event is a past fact with a discriminating `type`. */
export interface EventBase {
  readonly type: string;
}

/**
 * A kind of run: a pure state machine. `S` is plain JSON (it goes into the snapshot).
 * Effects `F` are owed from the state until an event says how they ended.
 */
export interface RunKind<S, C, E extends EventBase, F> {
  readonly name: string;
  readonly version: number;
  initial(): S;
  /** Of every event it folds. An event without one is of a newer atlas: its run is listed as newer, never as damaged. */
  readonly shapes: Readonly<Record<string, Shape>>;
  /** Total over legal histories; throws `IllegalEvent` on any other. */
  apply(state: S, event: E, mark: LineMark): S;
  /** The events of ONE line, or why not. An empty decision is `null`: nothing to record. */
  decide(state: S, command: C, moment: Moment): Result<NonEmpty<E> | null, Refusal>;
  owed(state: S): readonly F[];
  next(state: S): Step;
}
