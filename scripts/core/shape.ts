/**
 * The shapes of events. A sealed line proves that it was not torn, not that we wrote it: before an event is folded, and
 * before one is written, every field of it is of its kind. What becomes part of a path or of a git call is checked to
 * be harmless there.
 */

/** `?` behind a field: or null. */
export type Field =
  | "text"
  | "text?"
  | "texts"
  | "flag"
  | "count"
  /** 64 hex digits. */
  | "hash"
  | "hash?"
  /** A git object id. */
  | "oid"
  | "oid?"
  /** A slot or a role: lower case and dashes. */
  | "word"
  /** Relative, below where it begins. */
  | "path"
  | "path?"
  | "paths"
  | "lease"
  | "lease?"
  | "pass"
  | "owner"
  | "process"
  | "files"
  /** An object whose reader checks it. */
  | "object"
  /** One of these. */
  | readonly string[];

/** By field name; `?` behind a name: it may be missing. */
export type Shape = Readonly<Record<string, Field>>;

/** The shape an event type needs: the compiler asks for each of its fields. */
export type ShapeOf<E> = {
  readonly [K in Exclude<keyof E & string, "type"> as undefined extends E[K] ? `${K}?` : K]: Field;
};
export type ShapesOf<E extends { readonly type: string }> = {
  readonly [T in E["type"]]: ShapeOf<Extract<E, { readonly type: T }>>;
};

/** The name of the first field that is not what `shape` says; null: it fits. Fields it does not name are no matter. */
export function misfit(event: object, shape: Shape): string | null {
  for (const [key, field] of Object.entries(shape)) {
    const optional = key.endsWith("?");
    const name = optional ? key.slice(0, -1) : key;
    const value = Object.hasOwn(event, name) ? (event as Record<string, unknown>)[name] : undefined;
    if (value === undefined ? !optional : !is(field, value)) return name;
  }
  return null;
}

const hashShape = /^[0-9a-f]{64}$/;
const oidShape = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const wordShape = /^[a-z][a-z0-9-]{0,63}$/;
const leaseShape = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}#\d{1,6}@\d{1,9}$/;

function is(field: Field, value: unknown): boolean {
  if (typeof field === "object") return typeof value === "string" && field.includes(value);
  if (field.endsWith("?")) return value === null || is(field.slice(0, -1) as Field, value);
  switch (field) {
    case "text":
      return typeof value === "string";
    case "texts":
      return isListOf("text", value);
    case "flag":
      return typeof value === "boolean";
    case "count":
      return Number.isSafeInteger(value) && (value as number) >= 0;
    case "hash":
      return typeof value === "string" && hashShape.test(value);
    case "oid":
      return typeof value === "string" && oidShape.test(value);
    case "word":
      return typeof value === "string" && wordShape.test(value);
    case "path":
      return typeof value === "string" && isInner(value);
    case "paths":
      return isListOf("path", value);
    case "lease":
      return typeof value === "string" && leaseShape.test(value) && !value.includes("..");
    case "pass":
      return value === 0 || value === 1 || value === 2;
    case "owner":
      return isProcess(value) && misfit(value, { host: "text", session: "text?" }) === null;
    case "process":
      return isProcess(value);
    case "files":
      return Array.isArray(value) && value.every((file) => isObject(file) && misfit(file, foreignFile) === null);
    default:
      return isObject(value);
  }
}

const foreignFile: Shape = { path: "path", sha256: "hash", bytes: "count" };
const processShape: Shape = { machine: "text?", boot: "text?", namespace: "text?", start: "text?" };

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isListOf(field: Field, value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => is(field, item));
}

/** A pid becomes a path in `/proc`. */
function isProcess(value: unknown): value is object {
  if (!isObject(value) || misfit(value, processShape) !== null) return false;
  const { pid, uid } = value as { readonly pid?: unknown; readonly uid?: unknown };
  return (pid === null || (Number.isSafeInteger(pid) && (pid as number) > 0)) && (uid === null || is("count", uid));
}

function isInner(path: string): boolean {
  return path !== "" && !path.includes("\0") && path.split(/[\\/]/).every((name) => !["", ".", ".."].includes(name));
}
