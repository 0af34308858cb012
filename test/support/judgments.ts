/** Evidence, seats and judgments to start a verdict's test from: everything is fine unless a test says otherwise. */
import type { Critic, CriticName } from "../../scripts/verify/critic.ts";
import { type Defect, isBlocking, lenses } from "../../scripts/verify/defect.ts";
import type { CommandEvidence, Evidence, TestsEvidence } from "../../scripts/verify/evidence.ts";
import { lensNames } from "../../scripts/verify/lens.ts";
import type { CriticSeen, VerdictContext } from "../../scripts/verify/verdict.ts";

export const command: CommandEvidence = {
  text: "npm test",
  cwd: ".",
  ending: "exited",
  code: 0,
  ms: 5,
  peakBytes: 1,
  log: { sha256: "0".repeat(64), bytes: 3, tail: "ok\n" },
};
export const tree = { before: "a".repeat(40), coded: "b".repeat(40), built: "b".repeat(40) };
export const tests: TestsEvidence = {
  source: "report",
  runners: ["node-test"],
  perTest: true,
  passed: 3,
  failed: 0,
  skipped: 0,
  faults: [],
  results: "1".repeat(64),
};
export const allRan: Evidence["lenses"] = Object.fromEntries(
  lensNames.map((name) => [name, { status: "ran", ms: 1, defects: [] }]),
);
export const good: Evidence = {
  v: 1,
  pass: 0,
  attempt: 1,
  tree,
  command,
  tests,
  setup: null,
  baseline: null,
  revertRed: { status: "red" },
  lenses: allRan,
  leftovers: "none",
};

export const yes = Object.fromEntries(lenses.map((lens) => [lens, "yes"])) as Critic["dimensions"];
export const clean: Critic = { dimensions: yes, defects: [], verdict: "OK" };

export function seen(critic: Critic, pass = 0): CriticSeen {
  return { status: "taken", pass, critic };
}

export function seats(given: Partial<Record<CriticName, CriticSeen>> = {}, pass = 0): Record<CriticName, CriticSeen> {
  return { correctness: seen(clean, pass), "code-quality": seen(clean, pass), security: seen(clean, pass), ...given };
}

export const context: VerdictContext = {
  changed: ["src/a.ts"],
  matches: (path) => path.startsWith("src/"),
  previous: null,
};

export function raised(
  id: string,
  category: Defect["category"],
  severity: Defect["severity"],
  location = "src/a.ts:3",
): Critic {
  const defects: Defect[] = [{ id, category, severity, location, fix: "mend" }];
  const no = defects.some(isBlocking);
  return { dimensions: { ...yes, ...(no ? { [category]: "no" } : {}) }, defects, verdict: no ? "FAIL" : "OK" };
}

export function ended(changes: Partial<CommandEvidence>): Evidence {
  return { ...good, command: { ...command, ...changes } };
}

export function ids(defects: readonly Defect[]): readonly string[] {
  return defects.map((defect) => defect.id);
}
