/**
 * What a scanner's JSON report says of the copies: new findings only. Pure, and of the report nothing is believed but
 * which rule of ours, which copy of ours, which line.
 */
import type { Defect, Severity } from "../defect.ts";
import { type LensAnswer, ran, ranPartly } from "../lens.ts";
import { capped } from "./capped.ts";
import { type FileCopy, lineText } from "./copies.ts";
import { Unlooked } from "./unlooked.ts";

export interface SastRule {
  readonly severity: Severity;
  /** Our own words. */
  readonly message: string;
}

interface Finding {
  readonly rule: string;
  readonly copy: FileCopy;
  readonly line: number;
}

const severityOf: Readonly<Record<string, Severity>> = { ERROR: "HIGH", WARNING: "MEDIUM", INFO: "LOW" };
const findingsMax = 20_000;
const languages = new Set([".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".go"]);

/** Whether our rules speak the language of a path. */
export function isScannable(path: string): boolean {
  return languages.has(/\.[^./]+$/.exec(path)?.[0].toLowerCase() ?? "");
}

/** The rules of one file of ours, parsed. Throws for a file of another form: the plugin itself is broken then. */
export function sastRules(parsed: unknown): ReadonlyMap<string, SastRule> {
  const { rules } = parsed as { rules: readonly { id: string; severity: string; message: string }[] };
  return new Map(
    rules.map(({ id, severity, message }) => {
      const ours = severityOf[severity];
      if (ours === undefined || !/^[a-z0-9-]{1,64}$/.test(id)) throw new Error("a rule of another form");
      return [id, { severity: ours, message: message.trim() }];
    }),
  );
}

/** Null: it is no report of a whole scan of these copies with these rules. */
export function readSastReport(
  text: string,
  copyAt: (path: unknown) => FileCopy | null,
  copies: readonly FileCopy[],
  rules: ReadonlyMap<string, SastRule>,
): LensAnswer | null {
  const report = parsed(text);
  if (report === null || !Array.isArray(report.results) || report.results.length > findingsMax) return null;
  if (!isRecord(report.paths) || !Array.isArray(report.paths.scanned) || !Array.isArray(report.errors)) return null;
  const findings: Finding[] = [];
  for (const result of report.results) {
    const finding = findingOf(result, copyAt, rules);
    if (finding === null) return null;
    findings.push(finding);
  }
  const unlooked = new Unlooked();
  const scanned = new Set(report.paths.scanned.map(copyAt));
  const hurt = new Set(report.errors.map((error: unknown) => (isRecord(error) ? copyAt(error.path) : null)));
  for (const copy of copies) {
    if (copy.side !== "after") continue;
    if (!scanned.has(copy)) unlooked.add("the scanner left it out");
    else if (hurt.has(copy)) unlooked.add("the scanner could not read all of it");
  }
  const defects = newFindings(findings).map((finding, index) => defectOf(finding, rules, index + 1));
  const found = capped(bySeverity(defects), { id: `SAST${defects.length + 1}`, what: "findings of the scanner" });
  const reason = unlooked.sentence();
  return reason === null ? ran(found) : ranPartly(found, reason);
}

function findingOf(
  result: unknown,
  copyAt: (path: unknown) => FileCopy | null,
  rules: ReadonlyMap<string, SastRule>,
): Finding | null {
  if (!isRecord(result) || typeof result.check_id !== "string" || !isRecord(result.start)) return null;
  // The scanner puts the folders of the rule's file before its id.
  const rule = result.check_id.split(".").at(-1) ?? "";
  const copy = copyAt(result.path);
  const { line } = result.start;
  if (!rules.has(rule) || copy === null || typeof line !== "number" || !Number.isSafeInteger(line) || line < 1) {
    return null;
  }
  return { rule, copy, line };
}

/** What stood before (rule, path, text of the line) is taken off, as often as it stood; a moved file brings its own. */
function newFindings(findings: readonly Finding[]): readonly Finding[] {
  const stood = new Map<string, number>();
  const keysOf = ({ rule, copy, line }: Finding): readonly [string, string] => {
    const text = lineText(copy.text, line);
    return [JSON.stringify([rule, copy.file.path, text]), JSON.stringify([rule, null, text])];
  };
  for (const finding of findings) {
    if (finding.copy.side !== "before") continue;
    const key = keysOf(finding)[finding.copy.file.status === "D" ? 1 : 0];
    stood.set(key, (stood.get(key) ?? 0) + 1);
  }
  return findings.filter((finding) => {
    if (finding.copy.side !== "after") return false;
    const key = keysOf(finding).find((one) => (stood.get(one) ?? 0) > 0);
    if (key === undefined) return true;
    stood.set(key, (stood.get(key) ?? 0) - 1);
    return false;
  });
}

function defectOf({ rule, copy, line }: Finding, rules: ReadonlyMap<string, SastRule>, at: number): Defect {
  const { severity, message } = rules.get(rule) as SastRule;
  const location = `${copy.file.path}:${line}`;
  return { id: `SAST${at}`, category: "SECURITY", severity, location, fix: `${message} (${rule})` };
}

/** The cap must never hide a finding that blocks behind ones that do not. */
function bySeverity(defects: readonly Defect[]): readonly Defect[] {
  const rank = { CRITICAL: 0, HIGH: 1, MEDIUM: 2, LOW: 3 } as const;
  return [...defects].sort((left, right) => rank[left.severity] - rank[right.severity]);
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
