import * as z from "zod";
import { quoted, utf8Bytes } from "../../core/quote.ts";
import { ok, type RefusalCode, type Result, refuse } from "../../core/result.ts";

/** A refusal that names the field. `field` holds our own key names and numbers only; `reason` goes on after it. */
export function wrong(code: RefusalCode, field: string, reason: string): Result<never> {
  return refuse(code, `${field} ${reason}`, `mend ${field}`);
}

/** The value in its exact shape, or a refusal `code` that names the first field that is off, in our words. */
export function shaped<S extends z.ZodType>(schema: S, value: unknown, code: RefusalCode): Result<z.output<S>> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const issue = parsed.error.issues[0];
  if (issue === undefined) return wrong(code, "the value", "is off");
  return wrong(code, fieldOf(issue.path), reasonOf(issue));
}

function fieldOf(path: readonly PropertyKey[]): string {
  const spelled = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  return spelled === "" ? "the whole value" : spelled.replace(/^\./, "");
}

/** zod's own messages quote what they were given, unbounded; these do not. */
function reasonOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be of type ${issue.expected} (and be there)`;
    case "too_big":
      return `is too long or too large: at most ${issue.maximum}`;
    case "too_small":
      return `is too short or too small: at least ${issue.minimum}`;
    case "unrecognized_keys":
      return `has a key that is not known: ${quoted(issue.keys[0] ?? "")}`;
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "custom":
      return issue.message;
    default:
      return "has the wrong form";
  }
}

/** Text with something in it, at most `charsMax` characters (UTF-16 units). */
export function textUpTo(charsMax: number) {
  return z.string().max(charsMax).refine(isWritten, "must not be blank");
}

/** Text with something in it, at most `bytesMax` bytes of UTF-8. */
export function textUpToBytes(bytesMax: number) {
  return z
    .string()
    .max(bytesMax)
    .refine(isWritten, "must not be blank")
    .refine((text) => utf8Bytes(text) <= bytesMax, `must be at most ${bytesMax} bytes of UTF-8`);
}

function isWritten(text: string): boolean {
  return text.trim() !== "";
}

/**
 * Characters that make a line show something else than what it is: controls (a NUL ends an argument), line and
 * paragraph separators, and those that turn the writing direction.
 */
const deceiving = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/;

/** For what a human approves by reading it. Tabs and newlines may stand in it. */
export function isPlain(text: string): boolean {
  return !deceiving.test(text);
}

/** Why a text cannot be a path or glob below the tree's root, or null. */
export function pathFault(text: string): string | null {
  if (text === "" || text.trim() !== text) return "must not be empty or begin or end with a space";
  if (!isPlain(text) || /[\t\n]/.test(text)) return "must not hold control characters";
  if (/^([\\/]|[A-Za-z]:|~[\\/])/.test(text)) return "must be relative to the tree's root, not absolute";
  if (text.split(/[\\/]/).includes("..")) return 'must not hold a ".." segment';
  return null;
}
