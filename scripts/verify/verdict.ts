/**
 * The verdict: the one function that makes the label. Pure, so that the label printed is the label recomputed from what
 * was recorded. No model and no other code decides green or red.
 */
import { quoted } from "../core/quote.ts";
import { type Critic, type CriticName, criticLenses, criticNames, dissentedLens } from "./critic.ts";
import { type Defect, isBlocking, isReservedId, locationPath } from "./defect.ts";
import type { Evidence } from "./evidence.ts";
import { lensNames } from "./lens.ts";
import { ranDefects } from "./ran-defects.ts";
import { isResidue } from "./scope.ts";

const refinePassesMax = 2;
const outOfScopeMax = 20;

/** One critic's slot as read back from disk. `malformed`: its bytes no longer pass the door, or their hash differs. */
export type CriticSeen =
  | { readonly status: "taken"; readonly pass: number; readonly critic: Critic }
  | { readonly status: "missing" | "malformed" };

export interface VerdictContext {
  /** Every path that differs between the trees `before` and `coded`, unscoped. */
  readonly changed: readonly string[];
  /** Whether a path lies in the frozen scope (`scopeMatcher`). */
  readonly matches: (path: string) => boolean;
  /** Of the pass before: the tree that was judged and what blocked. Null at the first. */
  readonly previous: { readonly tree: string; readonly blocking: readonly Defect[] } | null;
}

export interface Verdict {
  readonly label: "VERIFIED" | "UNVERIFIED";
  readonly blocking: readonly Defect[];
  readonly advisory: readonly Defect[];
  readonly skipped: readonly { readonly lens: string; readonly reason: string }[];
  /** Whether the coder gets another pass. */
  readonly refine: boolean;
  /** Keys of `whySentences`; never free text. */
  readonly why: readonly WhyCode[];
}

export const whySentences = {
  "harness.incomplete": "what was measured was measured without the whole harness, so nothing of it is called verified",
  "evidence.absent": "there is no evidence of this pass",
  "defects.blocking": "there are CRITICAL or HIGH defects",
  "refine.blocking": "the coder gets another pass: a defect it can mend blocks",
  "refine.judgment": "the coder gets a second look: a correctness or security defect was raised",
  "refine.no_progress": "no further pass: the tree or the set of blocking defects is the one of the pass before",
  "refine.spent": "no further pass: both are used up",
} as const;
export type WhyCode = keyof typeof whySentences;

/**
 * Label, defects and whether to refine. `evidence` null or of another pass counts as absent and blocks; a critic that is
 * missing, malformed or of another pass blocks; nothing is green by default. Deterministic in its arguments.
 */
export function verdict(
  evidence: Evidence | null,
  critics: Readonly<Record<CriticName, CriticSeen>>,
  pass: number,
  context: VerdictContext,
): Verdict {
  const current = evidence !== null && evidence.pass === pass ? evidence : null;
  const command = current === null ? { mendable: [], ours: [] } : ranDefects(current);
  const measured = current === null ? [] : [...treeDefects(current, context), ...lensDefects(current)];
  const judged = criticNames.flatMap((name) => takenDefects(critics[name], pass));
  // Told apart by source, not by id: what a critic says reaches the coder, whatever it is called.
  const coderFacing = [...command.mendable, ...measured, ...judged];
  const ours = [
    ...command.ours,
    ...absentDefects(current),
    ...criticNames.flatMap((name) => seatDefects(name, critics[name], pass)),
  ];
  const all = [...coderFacing, ...ours];
  const blocking = all.filter(isBlocking);
  const refining = refineDecision(coderFacing, blocking, current, pass, context);
  const why: WhyCode[] = [];
  if (current !== null && unbuiltLenses(current).length > 0) why.push("harness.incomplete");
  if (current === null) why.push("evidence.absent");
  if (blocking.length > 0) why.push("defects.blocking");
  return {
    label: why.length === 0 ? "VERIFIED" : "UNVERIFIED",
    blocking,
    advisory: all.filter((defect) => !isBlocking(defect)),
    skipped: current === null ? [] : skippedLenses(current),
    refine: refining.refine,
    why: refining.why === null ? why : [...why, refining.why],
  };
}

function refineDecision(
  coderFacing: readonly Defect[],
  blocking: readonly Defect[],
  evidence: Evidence | null,
  pass: number,
  context: VerdictContext,
): { readonly refine: boolean; readonly why: WhyCode | null } {
  // Without evidence there is nothing to mend by: the pass is to be verified first.
  if (evidence === null) return { refine: false, why: null };
  const mustMend = coderFacing.some(isBlocking);
  const secondLook =
    pass < 1 && coderFacing.some(({ category }) => category === "CORRECTNESS" || category === "SECURITY");
  if (!mustMend && !secondLook) return { refine: false, why: null };
  if (pass >= refinePassesMax) return { refine: false, why: "refine.spent" };
  const { previous } = context;
  const stuck =
    previous !== null &&
    (previous.tree === evidence.tree.coded || sameSet(blockingKeys(previous.blocking), blockingKeys(blocking)));
  if (stuck) return { refine: false, why: "refine.no_progress" };
  return { refine: true, why: mustMend ? "refine.blocking" : "refine.judgment" };
}

/** (category, path) of what blocks; ours apart, because no tree can change them. */
function blockingKeys(blocking: readonly Defect[]): ReadonlySet<string> {
  return new Set(
    blocking
      .filter((defect) => isBlocking(defect) && !isReservedId(defect.id))
      .map((defect) => `${defect.category}\n${locationPath(defect.location)}`),
  );
}

function sameSet(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && [...left].every((key) => right.has(key));
}

function treeDefects({ tree }: Evidence, { changed, matches }: VerdictContext): readonly Defect[] {
  const outside = changed.filter((path) => !matches(path) && !isResidue(path)).sort();
  const defects: Defect[] = outside.slice(0, outOfScopeMax).map((path) => ({
    id: `out-of-scope:${quoted(path, 200)}`,
    category: "CORRECTNESS",
    severity: "HIGH",
    location: path,
    fix: "Undo your own change to this path: it lies outside the scope. Leave what you did not change.",
  }));
  if (outside.length > outOfScopeMax) {
    const more = outside.length - outOfScopeMax;
    const fix = `${more} more paths outside the scope were changed. Undo your own changes to them.`;
    defects.push({ id: "out-of-scope:more", category: "CORRECTNESS", severity: "HIGH", location: ".", fix });
  }
  if (tree.before === tree.coded || !changed.some(matches)) {
    const fix = "Nothing in the scope was changed. Make the change that was asked for.";
    defects.push({ id: "empty-diff", category: "CORRECTNESS", severity: "CRITICAL", location: ".", fix });
  }
  return defects;
}

function lensDefects(evidence: Evidence): readonly Defect[] {
  return Object.values(evidence.lenses).flatMap((lens) => (lens.status === "ran" ? lens.defects : []));
}

function takenDefects(seen: CriticSeen, pass: number): readonly Defect[] {
  return seen.status === "taken" && seen.pass === pass ? seen.critic.defects : [];
}

function absentDefects(evidence: Evidence | null): readonly Defect[] {
  const base = { category: "DOES-IT-RUN", severity: "CRITICAL", location: "evidence" } as const;
  if (evidence === null) return [{ ...base, id: "evidence-incomplete", fix: "Run atlas verify for this pass." }];
  return Object.entries(evidence.lenses)
    .filter(([, lens]) => lens.status === "failed")
    .map(([name]) => ({ ...base, id: `evidence-incomplete:${quoted(name)}`, fix: "Run atlas verify again." }));
}

/** What an empty or contradicting seat costs: never the critic's own defects, those stand beside it. */
function seatDefects(name: CriticName, seen: CriticSeen, pass: number): readonly Defect[] {
  const { lens } = criticLenses[name];
  if (seen.status !== "taken" || seen.pass !== pass) {
    const state = seen.status === "taken" ? "of another pass" : seen.status;
    const fix = `The ${name} critic's judgment is ${state}: have it judged again.`;
    return [{ id: `critic-missing:${name}`, category: lens, severity: "CRITICAL", location: name, fix }];
  }
  const dissent = dissentedLens(seen.critic, name);
  if (dissent === null) return [];
  const fix = `The ${name} critic says no to ${dissent} and shows no CRITICAL or HIGH defect for it: ask it again.`;
  return [{ id: `dimension-dissent:${name}`, category: dissent, severity: "HIGH", location: name, fix }];
}

function skippedLenses(evidence: Evidence): Verdict["skipped"] {
  const skipped = Object.entries(evidence.lenses).flatMap(([lens, { status, reason }]) =>
    status === "ran" && reason === undefined ? [] : [{ lens, reason: reason ?? status }],
  );
  if (evidence.tests.source === "none") {
    skipped.push({ lens: "tests", reason: evidence.tests.faults?.[0] ?? "no tests were counted" });
  }
  if (evidence.revertRed.status === "not-run") {
    skipped.push({ lens: "revert-red", reason: evidence.revertRed.reason ?? "not-run" });
  }
  return skipped;
}

/** A lens that is missing or was not there yet found nothing: that is not "nothing wrong". */
function unbuiltLenses({ lenses }: Evidence): readonly string[] {
  return lensNames.filter((name) => lenses[name] === undefined || lenses[name].reason === "not-built");
}
