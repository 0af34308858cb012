/** One finding of the doctor. */
import { EnvironmentFailure } from "../core/result.ts";

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** One line. */
  readonly detail: string;
  /** A command to type, or what to do; null where nothing is to be done. */
  readonly fix: string | null;
}

export function fine(name: string, detail: string, fix: string | null = null): Check {
  return { name, ok: true, detail: oneLine(detail), fix };
}

export function bad(name: string, detail: string, fix: string): Check {
  return { name, ok: false, detail: oneLine(detail), fix: oneLine(fix) };
}

/** The checks `look` gives; what it throws is a finding too, so that one broken thing hides no other. */
export function guarded(name: string, look: () => readonly Check[]): readonly Check[] {
  try {
    return look();
  } catch (error) {
    if (error instanceof EnvironmentFailure) return [bad(name, `${error.code}: ${error.message}`, error.fix)];
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "unknown";
    return [bad(name, `could not be looked at: ${reason}`, "report it")];
  }
}

/** For a shell a person types into. */
export function shellQuoted(path: string): string {
  return /^[A-Za-z0-9_/.:@%+,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

const charsMax = 500;

function oneLine(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029]/g, "?").slice(0, charsMax);
}
