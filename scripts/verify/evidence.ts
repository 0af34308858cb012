import type { Defect } from "./defect.ts";

/** How a command can end. Only `exited` has a code, only `signalled` a signal. */
export type EndingKind = "exited" | "signalled" | "timed-out" | "memory" | "output" | "unstarted" | "killed" | "lost";

export interface CommandEvidence {
  readonly text: string;
  readonly cwd: string;
  readonly ending: EndingKind;
  readonly code?: number;
  readonly signal?: string;
  readonly ms: number;
  readonly peakBytes: number;
  /** `tail` is at most 4 KB of untrusted output. */
  readonly log: { readonly sha256: string; readonly bytes: number; readonly tail: string };
}

export interface TestsEvidence {
  /** Where the counts come from; `none`: nothing was read, the counts say nothing. */
  readonly source: "report" | "text" | "none";
  readonly runners: readonly string[];
  readonly perTest: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** sha-256 of the per-test results. */
  readonly results: string;
}

export interface LensEvidence {
  readonly status: "ran" | "skipped" | "failed";
  readonly reason?: string;
  readonly ms: number;
  readonly defects: readonly Defect[];
}

/** `artifacts/evidence.<pass>.json`: what was measured. Says nothing about good or bad; `verdict` does. */
export interface Evidence {
  readonly v: 1;
  readonly pass: number;
  readonly attempt: number;
  /** Tree ids: before the coder, after it, after the build. */
  readonly tree: { readonly before: string; readonly coded: string; readonly built: string };
  readonly command: CommandEvidence;
  readonly tests: TestsEvidence;
  readonly revertRed: { readonly status: "red" | "red-build" | "green" | "not-run"; readonly reason?: string };
  /** By lens name. Thin evidence has none. */
  readonly lenses: Readonly<Record<string, LensEvidence>>;
  /** `none`, or `killed <n>`: processes the command left behind. */
  readonly leftovers: string;
}

/** Evidence of a release without the harness: the diff's trees and the command's ending, nothing judged. */
export function thinEvidence(
  measured: Pick<Evidence, "pass" | "attempt" | "tree" | "command" | "leftovers">,
): Evidence {
  return {
    v: 1,
    pass: measured.pass,
    attempt: measured.attempt,
    tree: measured.tree,
    command: measured.command,
    tests: { source: "none", runners: [], perTest: false, passed: 0, failed: 0, skipped: 0, results: "" },
    revertRed: { status: "not-run", reason: "harness.incomplete" },
    lenses: {},
    leftovers: measured.leftovers,
  };
}

export function commandSucceeded(command: CommandEvidence): boolean {
  return command.ending === "exited" && command.code === 0;
}

/** One sentence for each ending. Holds no untrusted text but a signal's name, and that only in its known form. */
export function endingSentence(command: CommandEvidence): string {
  const signal = /^SIG[A-Z0-9]{1,10}$/.test(command.signal ?? "") ? command.signal : "a signal";
  const sentences: Readonly<Record<EndingKind, string>> = {
    exited: `it exited with code ${command.code ?? "unknown"}`,
    signalled: `it was ended by ${signal}`,
    "timed-out": "it ran out of its time",
    memory: "it used more memory than its limit",
    output: "it wrote more output than its limit",
    unstarted: "it could not be started",
    killed: "it was ended from outside",
    lost: "its performer died and left no result",
  };
  return sentences[command.ending];
}
