import { ok, type Result, refuse } from "../../core/result.ts";

/** How a coder said it ended. Evidence only: the tree decides. */
export interface CoderEnd {
  readonly status: "COMPLETE" | "INCOMPLETE";
  /** What its last line named, or null. */
  readonly lease: { readonly run: string; readonly lease: string } | null;
  /** The whole report, untrusted. */
  readonly text: string;
}

const linesReadMax = 8;
const lineCharsMax = 1000;

/**
 * Reads the last written lines: `STATUS: COMPLETE|INCOMPLETE`, then optionally `LEASE <run> <lease>`. Emphasis marks
 * around a line do not matter. Refuses `slot.status`.
 */
export function coderEnd(text: string): Result<CoderEnd> {
  // A tail is enough, and keeps a report of blank lines cheap.
  const tail = text.trimEnd().split("\n").slice(-linesReadMax);
  const written = tail.map(bare).filter((line) => line !== "");
  const lease = /^LEASE ([A-Za-z0-9._-]{1,128}) ([^\s]{1,256})$/.exec(written.at(-1) ?? "");
  const status = /^STATUS: ?(COMPLETE|INCOMPLETE)$/.exec(written.at(lease === null ? -1 : -2) ?? "")?.[1];
  if (status !== "COMPLETE" && status !== "INCOMPLETE") {
    return refuse(
      "slot.status",
      "the report does not end with its status line",
      "end it with the line STATUS: COMPLETE or STATUS: INCOMPLETE (only a LEASE line may follow)",
    );
  }
  const named = lease === null ? null : { run: lease[1] ?? "", lease: lease[2] ?? "" };
  return ok({ status, lease: named, text });
}

/** Without the emphasis around it. A longer line is none of the two, and stripping it could cost quadratic time. */
function bare(line: string): string {
  return line.length > lineCharsMax ? line : line.replace(/^[\s*_`]+|[\s*_`.]+$/g, "");
}
