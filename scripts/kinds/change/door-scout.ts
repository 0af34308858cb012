import * as z from "zod";
import { quoted } from "../../core/quote.ts";
import { ok, type Result } from "../../core/result.ts";
import { pathFault, shaped, textUpTo, wrong } from "./door-shape.ts";

/** What the scout found. Every text in it is untrusted. */
export interface Scout {
  readonly repo_mode: "small" | "large" | "monorepo" | "none";
  readonly relevant_files: readonly { readonly path: string; readonly why: string }[];
  readonly conventions: readonly string[];
  readonly constraints: readonly string[];
  readonly entry_points: readonly string[];
  readonly conflicts: readonly string[];
  readonly untrusted_excerpts: readonly { readonly path: string; readonly text: string }[];
}

const notes = z.array(textUpTo(4000)).max(100);
const path = z.string().max(1024);

const scoutShape = z.strictObject({
  repo_mode: z.enum(["small", "large", "monorepo", "none"]),
  relevant_files: z.array(z.strictObject({ path, why: textUpTo(4000) })).max(40),
  conventions: notes,
  constraints: notes,
  entry_points: notes,
  conflicts: notes,
  untrusted_excerpts: z.array(z.strictObject({ path, text: z.string().max(64 * 1024) })).max(100),
});

/**
 * A scout's digest whose every path exists at the baseline. Refuses `slot.shape | slot.path | slot.path_unknown`.
 */
export function scoutDoor(value: unknown, exists: (path: string) => boolean): Result<Scout> {
  const shape = shaped(scoutShape, value, "slot.shape");
  if (!shape.ok) return shape;
  for (const list of ["relevant_files", "untrusted_excerpts"] as const) {
    for (const [index, entry] of shape.value[list].entries()) {
      const field = `${list}[${index}].path`;
      const fault = pathFault(entry.path);
      if (fault !== null) return wrong("slot.path", field, fault);
      if (!exists(entry.path)) return wrong("slot.path_unknown", field, `does not exist: ${quoted(entry.path)}`);
    }
  }
  return ok(shape.value);
}
