/** What a verb hands back: one JSON object, the same said in short text, and the exit code. */
import type { Refusal } from "../core/result.ts";

export interface Outcome {
  readonly exit: 0 | 3;
  readonly json: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export function done(json: Readonly<Record<string, unknown>>, text: string): Outcome {
  return { exit: 0, json, text };
}

export function refused(refusal: Refusal): Outcome {
  const { code, reason, fix } = refusal;
  return { exit: 3, json: { refused: { code, reason, fix } }, text: `refused ${code}: ${reason}\nfix: ${fix}` };
}

export function refusedBy(result: { readonly ok: false; readonly error: Refusal }): Outcome {
  return refused(result.error);
}
