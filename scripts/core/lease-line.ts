/** The last line of an agent's prompt and message, `LEASE <run> <lease>`, and the files that stand for a lease. */
import { isRunId, type RunId } from "./ids.ts";

export interface LeaseLine {
  readonly run: RunId;
  readonly lease: string;
}

/** What an agent said, and whose answer it is. */
export interface SignedMessage extends LeaseLine {
  readonly body: string;
}

const leaseShape = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}#\d{1,6}@\d{1,9}$/;
const promptEnd = /LEASE (\S{1,160}) (\S{1,160})\s*$/;
const messageEnd = /^[`*_ \t]*LEASE (\S{1,160}) (\S{1,160}?)[`*_ \t.]*$/;
/** A whole body that is one code fence. */
const wholeFence = /^```[^\n`]*\n([\s\S]*)\n?```$/;

export function isLease(text: unknown): text is string {
  return typeof text === "string" && leaseShape.test(text) && !text.includes("..");
}

/** The lease a prompt ends with. */
export function leaseOfPrompt(prompt: string): LeaseLine | null {
  // Only the end is looked at: a prompt may be megabytes.
  return checked(promptEnd.exec(prompt.slice(-1000)));
}

/**
 * The lease an agent's last message ends with, and the message without it and without a fence around all of it. Hooks
 * and engine take the same bytes from the same message, whoever wrote it down.
 */
export function leaseOfMessage(text: string): SignedMessage | null {
  // Some agents put the fence around the line too.
  return signedMessage(text) ?? signedMessage(unfenced(text));
}

function signedMessage(text: string): SignedMessage | null {
  const whole = text.trimEnd();
  const cut = whole.lastIndexOf("\n");
  const line = checked(messageEnd.exec(whole.slice(cut + 1)));
  return line === null ? null : { ...line, body: unfenced(whole.slice(0, Math.max(0, cut))) };
}

/** A role as a host names it: `atlas:elite-coder` and `elite-coder` are one. */
export function roleOf(agentType: string): string {
  return agentType.replace(/^[^:]*:/, "");
}

function unfenced(text: string): string {
  const body = text.trim();
  const inner = wholeFence.exec(body)?.[1];
  // A second fence inside means the first one did not enclose everything.
  return inner === undefined || /^```/m.test(inner) ? body : inner.trimEnd();
}

function checked(match: RegExpExecArray | null): LeaseLine | null {
  const run = match?.[1];
  const lease = match?.[2];
  return isRunId(run) && isLease(lease) ? { run, lease } : null;
}
