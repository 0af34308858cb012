/** The six lenses; a defect's category is the lens it fails. */
export const lenses = [
  "CORRECTNESS",
  "CODE-QUALITY",
  "SECURITY",
  "TEST-ADEQUACY",
  "DOES-IT-RUN",
  "REQUIREMENTS-COVERAGE",
] as const;
export type Lens = (typeof lenses)[number];

export const severities = ["CRITICAL", "HIGH", "MEDIUM", "LOW"] as const;
export type Severity = (typeof severities)[number];

/** One thing that is wrong. From a critic, `location` and `fix` are untrusted text. */
export interface Defect {
  readonly id: string;
  readonly category: Lens;
  readonly severity: Severity;
  /** A path with an optional `:line`, or what was judged (`verify_cmd`). */
  readonly location: string;
  readonly fix: string;
}

export function isBlocking(defect: Defect): boolean {
  return defect.severity === "CRITICAL" || defect.severity === "HIGH";
}

/**
 * Ids only we make, for what a coder cannot mend: they never count for a refine pass and never reach a coder's packet,
 * so a critic that claimed one would delete its own defect.
 */
export function isReservedId(id: string): boolean {
  return /^(evidence-incomplete|environment|critic-missing|critic-stale|critic-schema|dimension-dissent|stale-verdict)(:|$)/.test(
    id,
  );
}

/** The path a location names: without `:12`, `:12-14`, `:12:3`, `#L12` and a leading `./`. */
export function locationPath(location: string): string {
  return location
    .trim()
    .replace(/(:\d+(-\d+)?(:\d+)?|#L\d+(-L?\d+)?)$/, "")
    .replace(/^(\.\/)+/, "");
}
