/** The frozen request of an original's run, and what of it no file holds any more. */
import type { LossCode } from "./original-loss.ts";
import type { OriginalState } from "./original-state.ts";

export interface OriginalPacket {
  readonly intent: string;
  readonly successCriteria: readonly string[];
  readonly scopePaths: readonly string[];
  readonly verifyCommand: string;
  /** Hex; null: the original found none, or it is lost (then `losses` says so). */
  readonly baseline: string | null;
}

/**
 * The state's request goes with the state's criteria; `intent.txt` may be an earlier request whose birth was cut off.
 * A request alone is no packet: what was agreed to is asked for again, never guessed.
 */
export function packetOf(
  state: OriginalState | null,
  intentFile: Uint8Array | null,
): { readonly packet: OriginalPacket | null; readonly intent: string | null; readonly lost: readonly LossCode[] } {
  const lost: LossCode[] = [];
  const written = intentFile === null ? "" : new TextDecoder().decode(intentFile);
  const intent = state?.intent?.trim() ? state.intent : written.trim() ? written : null;
  if (intent === null) lost.push("intent");
  if (state?.intent?.trim() && written.trim() && plain(state.intent) !== plain(written)) lost.push("intent-mismatch");
  const { successCriteria = null, scopePaths = null, verifyCommand = null, baseline = null } = state ?? {};
  if (successCriteria === null) lost.push("success_criteria");
  if (scopePaths === null) lost.push("scope_paths");
  if (verifyCommand === null) lost.push("verify_cmd");
  if (baseline === null) lost.push("baseline");
  if (intent === null || successCriteria === null || scopePaths === null || verifyCommand === null) {
    return { packet: null, intent, lost };
  }
  return { packet: { intent, successCriteria, scopePaths, verifyCommand, baseline: baseline || null }, intent, lost };
}

/** Line ends may have been changed by a check-out or an editor. */
function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").trim();
}
