import type { Engine } from "../engine/context.ts";
import type { Arguments } from "./arguments.ts";
import { done, type Outcome } from "./outcome.ts";

export function clean(_engine: Engine, _given: Arguments): Outcome {
  return done({}, "not yet");
}
