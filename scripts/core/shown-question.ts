/**
 * What a human saw when a gate was put to him, as one text: the engine makes it from what it printed, a hook from what
 * its host showed, and only where both are the same does the host's word count.
 */

export interface ShownOption {
  readonly label: string;
  readonly description: string;
}

/** Different for any other question, option, description or order of them. */
export function shownQuestion(question: string, options: readonly ShownOption[]): string {
  return JSON.stringify([question, ...options.map(({ label, description }) => [label, description])]);
}

/** The nonce a question ends with, in brackets; null: no question of a gate. */
export function nonceOfQuestion(question: string): string | null {
  return /\(([0-9a-f]{8})\)$/.exec(question)?.[1] ?? null;
}
