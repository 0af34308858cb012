/** What the child that plays a host tells the demo, one JSON object a line on its stdout. */
import type { Instruction } from "../core/kind.ts";

export type HostLine =
  /** `stdout` is what the hook printed, unchanged: the bytes a host receives. */
  | { readonly say: "hook"; readonly on: string; readonly stdout: string }
  /** A command of atlas that the host ran because it was printed, and what it printed. */
  | { readonly say: "ran"; readonly words: readonly string[]; readonly printed: Printed }
  | { readonly say: "agent"; readonly role: string; readonly lease: string; readonly is: "started" | "returned" }
  /** The coder stands in the middle of a file, and goes on when a line comes back on stdin. */
  | { readonly say: "half-written"; readonly path: string }
  | { readonly say: "ended"; readonly next: Instruction }
  | { readonly say: "failed"; readonly why: string };

/** What `start`, `resume`, `submit` and `verify` print with `--json`. */
export interface Printed {
  readonly run: { readonly id: string; readonly stage: string };
  readonly epoch: number;
  readonly did: readonly string[];
  readonly next: Instruction;
}

/** Gives whole lines of a stream, whatever pieces it comes in. */
export function lineReader(take: (line: string) => void): (piece: string) => void {
  let rest = "";
  return (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  };
}
