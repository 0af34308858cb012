/** Report files a runner writes by itself. */
import type { ReportFormat } from "../report-format.ts";

export interface ReportFile {
  readonly format: ReportFormat;
  /** Below the tree's root. */
  readonly glob: string;
}

export interface OwnReports {
  readonly files: readonly ReportFile[];
  /** Its arguments, configuration and assignments leave the runner's variable to us. */
  readonly isAskable: boolean;
}
