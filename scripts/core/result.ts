/** An expected "no": printed with its fix, exit code 3, never thrown. `fix` is a command to type. */
export interface Refusal {
  readonly code: RefusalCode;
  readonly reason: string;
  readonly fix: string;
}

/** `domain.reason`; the whole table with titles stands in `errors.ts`. */
export type RefusalCode = `${string}.${string}`;

export type Result<T, E = Refusal> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export type NonEmpty<T> = readonly [T, ...T[]];

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function refuse(
  code: RefusalCode,
  reason: string,
  fix: string,
): { readonly ok: false; readonly error: Refusal } {
  return { ok: false, error: { code, reason, fix } };
}

/**
 * The environment cannot carry the command (disk, permission, no git): exit code 4.
 * Thrown, because nothing between the failed system call and the command line can do better.
 */
export class EnvironmentFailure extends Error {
  readonly code: RefusalCode;
  readonly fix: string;
  constructor(code: RefusalCode, reason: string, fix: string) {
    super(reason);
    this.name = "EnvironmentFailure";
    this.code = code;
    this.fix = fix;
  }
}

/** The words of the call are off: exit code 2. */
export class UsageError extends Error {
  readonly code: RefusalCode;
  readonly fix: string;
  constructor(reason: string, fix = "atlas --help", code: RefusalCode = "usage.arguments") {
    super(reason);
    this.name = "UsageError";
    this.code = code;
    this.fix = fix;
  }
}

/** A history no legal run can have. Reading reports it as unreadable; nothing repairs it. */
export class IllegalEvent extends Error {
  constructor(state: string, event: string) {
    super(`event "${event}" is not legal in state "${state}"`);
    this.name = "IllegalEvent";
  }
}
