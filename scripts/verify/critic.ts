import { type Defect, isBlocking, isReservedId, type Lens, lenses } from "./defect.ts";

/** The three judges; also the names of their slots. */
export const criticNames = ["correctness", "code-quality", "security"] as const;
export type CriticName = (typeof criticNames)[number];

/** Each judge's own lens and the letter its defect ids begin with. */
export const criticLenses: { readonly [N in CriticName]: { readonly lens: Lens; readonly letter: string } } = {
  correctness: { lens: "CORRECTNESS", letter: "C" },
  "code-quality": { lens: "CODE-QUALITY", letter: "Q" },
  security: { lens: "SECURITY", letter: "S" },
};

export interface Critic {
  readonly dimensions: { readonly [L in Lens]: "yes" | "no" };
  readonly defects: readonly Defect[];
  readonly verdict: "OK" | "FAIL";
}

/** What contradicts itself in a well-shaped judgment. `field` is a path in it, made of our own words and numbers. */
export interface CriticFault {
  readonly code: "critic.id" | "critic.reserved_id" | "critic.duplicate_id" | "critic.dimension" | "critic.verdict";
  readonly field: string;
  readonly reason: string;
}

/**
 * The first contradiction, or null. Ids are the judge's letter and a number, each once; `verdict` is OK exactly if
 * nothing blocks; a dimension is "no" exactly if a blocking defect carries its category.
 */
export function criticFault(critic: Critic, name: CriticName): CriticFault | null {
  const { letter } = criticLenses[name];
  const seen = new Set<string>();
  for (const [index, defect] of critic.defects.entries()) {
    const field = `defects[${index}].id`;
    if (isReservedId(defect.id)) return { code: "critic.reserved_id", field, reason: "is an id no critic may claim" };
    if (!new RegExp(`^${letter}[1-9][0-9]{0,3}$`).test(defect.id)) {
      return { code: "critic.id", field, reason: `must be ${letter}1, ${letter}2, ...` };
    }
    if (seen.has(defect.id)) return { code: "critic.duplicate_id", field, reason: "stands twice" };
    seen.add(defect.id);
  }
  const blocked = new Set(critic.defects.filter(isBlocking).map((defect) => defect.category));
  for (const lens of lenses) {
    const says = critic.dimensions[lens];
    if ((says === "no") === blocked.has(lens)) continue;
    const reason =
      says === "no"
        ? `says "no", but no CRITICAL or HIGH defect has category ${lens}`
        : `says "yes", but a CRITICAL or HIGH defect has category ${lens}`;
    return { code: "critic.dimension", field: `dimensions.${lens}`, reason };
  }
  if ((critic.verdict === "OK") !== (blocked.size === 0)) {
    const reason =
      blocked.size === 0 ? "must be OK: nothing blocks" : "must be FAIL: a CRITICAL or HIGH defect is listed";
    return { code: "critic.verdict", field: "verdict", reason };
  }
  return null;
}

/**
 * The lens a judgment dissents on without a blocking defect to show for it, or null. The door refuses such a judgment;
 * the verdict asks again, because what it reads has been on disk.
 */
export function dissentedLens(critic: Critic, name: CriticName): Lens | null {
  const blocked = new Set(critic.defects.filter(isBlocking).map((defect) => defect.category));
  const unshown = lenses.find((lens) => critic.dimensions[lens] === "no" && !blocked.has(lens));
  if (unshown !== undefined) return unshown;
  return critic.verdict !== "OK" && blocked.size === 0 ? criticLenses[name].lens : null;
}
