/** The registry: one line a kind. Nothing else knows which kinds there are. */
import type { Head } from "../core/head.ts";
import type { EventBase, LineMark, Step } from "../core/kind.ts";
import { misfit, type Shape } from "../core/shape.ts";
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
  readonly shapes: Readonly<Record<string, Shape>>;
  apply(state: AnyState, event: EventBase, mark: LineMark): AnyState;
  next(state: AnyState): Step;
}

const registry = [change, weave] as const;

export function kindNamed(name: string): AnyKind | null {
  const found = registry.find((kind) => kind.name === name);
  return found === undefined ? null : (found as unknown as AnyKind);
}

/** Why an event cannot be one of this kind's; null: it can. `newer`: this release does not know it. */
export function unfit(kind: AnyKind, event: EventBase): "newer" | { readonly field: string } | null {
  const shape = Object.hasOwn(kind.shapes, event.type) ? kind.shapes[event.type] : undefined;
  if (shape === undefined) return "newer";
  const field = misfit(event, shape);
  return field === null ? null : { field };
}

/** Throws for events that no reader would take: they must never land. */
export function mustFit(kind: AnyKind, events: readonly EventBase[]): void {
  for (const event of events) {
    const why = unfit(kind, event);
    if (why === null) continue;
    throw new Error(`event ${event.type} ${why === "newer" ? "has no shape" : `has an odd field ${why.field}`}`);
  }
}
