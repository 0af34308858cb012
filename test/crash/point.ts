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

const manyGitCalls = ["start", "submit plan", "submit coder", "resume"];

/** Git's calls where a command makes many, the performer where there is one. */
export function weaponsOf(scenario: string): readonly Weapon[] {
  const weapons: Weapon[] = ["own call"];
  if (manyGitCalls.includes(scenario)) weapons.push("git call");
  if (scenario === "verify") weapons.push("performer");
  return weapons;
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
