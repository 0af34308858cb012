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
  /** Why the counts are no evidence, in fixed words of `TestFault` and of the reader. */
  readonly faults: readonly string[];
  /** sha-256 of the per-test results; empty where there are none. */
  readonly results: string;
}

/** The command of a role other than the frozen one: how it ended and what its tests said. */
export interface OtherCommand {
  readonly command: CommandEvidence;
  readonly tests: TestsEvidence;
}

export interface LensEvidence {
  readonly status: "ran" | "skipped" | "failed";
  readonly reason?: string;
  readonly ms: number;
  readonly defects: readonly Defect[];
}

/** What one command of a pass left, recorded when it ended: `artifacts/measure-<role>.<pass>.json`. */
export interface Measure {
  readonly v: 1;
  readonly pass: number;
  readonly attempt: number;
  readonly command: CommandEvidence;
  readonly tests: TestsEvidence;
  /** The tree it was run on, and the same tree after it. */
  readonly tree: { readonly before: string; readonly after: string };
  readonly leftovers: string;
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
  /** The command that makes a fresh tree ready; null: none was run in this pass. */
  readonly setup: CommandEvidence | null;
  /** The frozen command at the base, run where it failed after the change; null: not run. */
  readonly baseline: OtherCommand | null;
  readonly revertRed: { readonly status: "red" | "red-build" | "green" | "not-run"; readonly reason?: string };
  /** By lens name. Thin evidence has none. */
  readonly lenses: Readonly<Record<string, LensEvidence>>;
  /** `none`, or `killed <n>`: processes the command left behind. */
  readonly leftovers: string;
}

/** No tests were read. */
export const noTests: TestsEvidence = {
  source: "none",
  runners: [],
  perTest: false,
  passed: 0,
  failed: 0,
  skipped: 0,
  faults: [],
  results: "",
};

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
