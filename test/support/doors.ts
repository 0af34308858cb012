/** Handing in at the doors of kind `change`, and one good value for each shape. */
import { type Checked, check, type DoorContext } from "../../scripts/kinds/change/doors.ts";
import { changeSlots, type SlotName } from "../../scripts/parts/slots.ts";
import { lenses } from "../../scripts/verify/defect.ts";

export const context: DoorContext = { exists: (path) => path === "src/a.ts", memoryBytes: 2 ** 32, recovered: false };
export const slots = Object.keys(changeSlots) as SlotName[];

export function handIn<S extends SlotName>(slot: S, value: unknown, given: Partial<DoorContext> = {}) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return check(slot, new TextEncoder().encode(text), { ...context, ...given });
}

export function taken<S extends SlotName>(slot: S, value: unknown, given: Partial<DoorContext> = {}): Checked[S] {
  const result = handIn(slot, value, given);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.reason}`);
  return result.value;
}

export function refused(slot: SlotName, value: unknown, given: Partial<DoorContext> = {}): string {
  const result = handIn(slot, value, given);
  return result.ok ? "taken" : result.error.code;
}

export const packet = { intent: "sum twice", success_criteria: ["sums"], scope_paths: ["src"], verify_cmd: "npm test" };

export const scout = {
  repo_mode: "small",
  relevant_files: [{ path: "src/a.ts", why: "it" }],
  conventions: ["tabs"],
  constraints: [],
  entry_points: [],
  conflicts: [],
  untrusted_excerpts: [{ path: "src/a.ts", text: "" }],
};

export const dimensions = Object.fromEntries(lenses.map((lens) => [lens, "yes"]));
export const clean = { dimensions, defects: [], verdict: "OK" };
export const defect = {
  id: "C1",
  category: "CORRECTNESS",
  severity: "HIGH",
  location: "src/a.ts:3",
  fix: "add, not subtract",
};
export const red = { dimensions: { ...dimensions, CORRECTNESS: "no" }, defects: [defect], verdict: "FAIL" };
