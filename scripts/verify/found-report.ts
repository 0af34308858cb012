/** A report file as it was found. Untrusted. */
import type { ReportFormat } from "./report-format.ts";
import type { Runner } from "./runner.ts";

export interface FoundReport {
  readonly runner: Runner;
  readonly format: ReportFormat;
  /** Null: too large, no text, or not readable. */
  readonly text: string | null;
}
