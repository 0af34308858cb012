/** Where a victim is killed, and what has to be put before it or into its environment for that. */
import type { Env } from "../support/scripted-run.ts";
import { type GitCall, gitKillsAt } from "./git-shim.ts";
import { killedAt, type OwnCall } from "./strace.ts";
import { performerKilledAt } from "./traced-performer.ts";

export type Point =
  | { readonly weapon: "own call"; readonly own: OwnCall }
  | { readonly weapon: "git call"; readonly git: GitCall }
  | { readonly weapon: "performer"; readonly own: OwnCall };

export type Weapon = Point["weapon"];

/** Own calls of everything, git's of every command, the performer where there is one. A hook calls no git. */
export function weaponsOf(scenario: string): readonly Weapon[] {
  if (scenario.startsWith("hook ")) return ["own call"];
  return scenario === "verify" ? ["own call", "git call", "performer"] : ["own call", "git call"];
}

export interface Blow {
  /** Program and words before the victim's. */
  readonly before: readonly string[];
  readonly env: Env;
}

/** `base`: a folder outside of the world; `performerTrace`: where the performer's tracer writes. */
export function blowAt(point: Point, base: string, performerTrace: string): Blow {
  if (point.weapon === "own call") return { before: killedAt(point.own), env: {} };
  if (point.weapon === "git call") return { before: [], env: gitKillsAt(base, point.git) };
  return { before: [], env: performerKilledAt(performerTrace, point.own) };
}

export function nameOf(point: Point): string {
  if (point.weapon === "git call") return `${point.git.when} git call ${point.git.at}`;
  return `${point.weapon === "performer" ? "performer's " : ""}${point.own.call} ${point.own.at}`;
}
