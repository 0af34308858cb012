declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** `[A-Za-z0-9][A-Za-z0-9._-]{0,127}` without `..`: safe as one path segment. */
export type RunId = Brand<string, "RunId">;
/** Milliseconds since the epoch, UTC. */
export type EpochMs = Brand<number, "EpochMs">;
/** 64 lower-case hex digits. */
export type Sha256 = Brand<string, "Sha256">;

const runIdShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const ownIdShape = /^\d{8}t\d{6}z-[0-9a-f]{6}$/;
const uuidShape = /^(session_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const sessionShape = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const maskedShape = /^#[0-9a-f]{8}$/;

export function isRunId(text: unknown): text is RunId {
  return typeof text === "string" && runIdShape.test(text) && !text.includes("..");
}

/** Names of devices: no file on Windows can be called so, whatever stands behind a dot. */
const deviceShape = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Whether every system of ours can hold a file of this name. */
export function isPortableName(name: string): boolean {
  return /^[^<>:"/\\|?*\x00-\x1f]+$/.test(name) && !/[. ]$/.test(name) && !deviceShape.test(name);
}

/** A session id a host may have sent. `"null"` and `"undefined"` are what a broken host prints for none. */
export function isSessionId(text: unknown): text is string {
  return (
    typeof text === "string" &&
    sessionShape.test(text) &&
    !text.includes("..") &&
    isPortableName(text) &&
    text !== "null" &&
    text !== "undefined"
  );
}

/** The form a run id may take in text that a model reads: a stranger's id could spell an order. */
export function isSpeakableId(id: string): boolean {
  return ownIdShape.test(id) || uuidShape.test(id);
}

export function isMaskedId(text: string): boolean {
  return maskedShape.test(text);
}

/** `<UTC time>-<6 hex>`, lower case, for example `20261130t190000z-1a2b3c`. */
export function ownRunId(now: EpochMs, sixHex: string): RunId {
  const stamp = new Date(now).toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "").toLowerCase();
  return `${stamp}-${sixHex}` as RunId;
}
