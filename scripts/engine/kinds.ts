/** The registry: one line a kind. Nothing else knows which kinds there are. */
import type { Head } from "../core/head.ts";
import type { EventBase, LineMark, Step } from "../core/kind.ts";
import { change } from "../kinds/change/kind.ts";
import { weave } from "../kinds/weave/kind.ts";

/** What the engine needs of any kind's state. */
export interface AnyState {
  readonly head: Head;
}

/** A kind with its own types forgotten: what folding, listing and owning need. */
export interface AnyKind {
  readonly name: string;
  readonly version: number;
  initial(): AnyState;
  knows(type: string): boolean;
  apply(state: AnyState, event: EventBase, mark: LineMark): AnyState;
  next(state: AnyState): Step;
}

const registry = [change, weave] as const;

export function kindNamed(name: string): AnyKind | null {
  const found = registry.find((kind) => kind.name === name);
  return found === undefined ? null : (found as unknown as AnyKind);
}
