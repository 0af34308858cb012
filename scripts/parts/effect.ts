/** Effects begun and not ended: who performs, so that nobody performs beside a living performer. */
import type { ProcessIdentity } from "../core/owner.ts";
import { IllegalEvent } from "../core/result.ts";

export interface BegunEffect {
  /** `<effect>:<subject>`: the same owed effect has the same key, whoever performs it. */
  readonly key: string;
  readonly epoch: number;
  readonly performer: ProcessIdentity;
  /** A long command's own process group; absent for short effects. */
  readonly group?: { readonly pgid: number; readonly start: string };
  /** Without it no result of a long command is believed. */
  readonly ticket?: { readonly nonce: string; readonly seal: string; readonly file: string };
}

export type EffectEvent =
  | ({ readonly type: "effect-began" } & BegunEffect)
  | { readonly type: "effect-ended"; readonly key: string; readonly outcome: "done" | "lost" | "left" };

/** Begins, or takes over from a performer that is gone. */
export interface BeginCommand {
  readonly do: "begin";
  readonly key: string;
  readonly performer: ProcessIdentity;
  readonly group?: BegunEffect["group"];
  readonly ticket?: BegunEffect["ticket"];
}

export function beganEvent(command: BeginCommand, epoch: number): EffectEvent {
  const { key, performer, group, ticket } = command;
  return {
    type: "effect-began",
    key,
    epoch,
    performer,
    ...(group === undefined ? {} : { group }),
    ...(ticket === undefined ? {} : { ticket }),
  };
}

export function applyEffect(begun: BegunEffect | null, event: EffectEvent): BegunEffect | null {
  if (event.type === "effect-ended") {
    if (begun?.key !== event.key) throw new IllegalEvent("no such begun effect", event.type);
    return null;
  }
  // A second beginning of the same effect takes over from a performer that is gone.
  if (begun !== null && begun.key !== event.key) throw new IllegalEvent(`effect ${begun.key} begun`, event.type);
  const { type: _, ...rest } = event;
  return rest;
}
