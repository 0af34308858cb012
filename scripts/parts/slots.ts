/** Who fills a slot: the root session itself or an agent of this role. */
export type Role = "context-scout" | "elite-coder" | "correctness-critic" | "code-quality-critic" | "security-critic";

export type SlotName = "packet" | "triage" | "scout" | "plan" | "coder" | "correctness" | "code-quality" | "security";

/** The three slots whose artifact is a judgment. */
export type CriticSlot = "correctness" | "code-quality" | "security";

export interface Slot {
  readonly name: SlotName;
  readonly by: "root" | Role;
  /** Of the artifact as it is handed in. */
  readonly bytesMax: number;
  readonly extension: "json" | "md";
  /** Whether whoever fills it changes the tree: a new hand-out then gets a new tree. */
  readonly writesTree: boolean;
}

const kb = 1024;

/** Every artifact a run of kind `change` expects, in the order of its stages. */
export const changeSlots: { readonly [S in SlotName]: Slot & { readonly name: S } } = {
  // An intent of 64 KB may be spelled in JSON escapes, six bytes a character.
  packet: { name: "packet", by: "root", bytesMax: 512 * kb, extension: "json", writesTree: false },
  triage: { name: "triage", by: "root", bytesMax: 4 * kb, extension: "json", writesTree: false },
  scout: { name: "scout", by: "context-scout", bytesMax: 128 * kb, extension: "json", writesTree: false },
  plan: { name: "plan", by: "root", bytesMax: 32 * kb, extension: "md", writesTree: false },
  coder: { name: "coder", by: "elite-coder", bytesMax: 64 * kb, extension: "md", writesTree: true },
  correctness: {
    name: "correctness",
    by: "correctness-critic",
    bytesMax: 128 * kb,
    extension: "json",
    writesTree: false,
  },
  "code-quality": {
    name: "code-quality",
    by: "code-quality-critic",
    bytesMax: 128 * kb,
    extension: "json",
    writesTree: false,
  },
  security: { name: "security", by: "security-critic", bytesMax: 128 * kb, extension: "json", writesTree: false },
};

export const criticSlots: readonly CriticSlot[] = ["correctness", "code-quality", "security"];

export function isSlotName(text: string): text is SlotName {
  return Object.hasOwn(changeSlots, text);
}

export function isCriticSlot(text: string): text is CriticSlot {
  return (criticSlots as readonly string[]).includes(text);
}
