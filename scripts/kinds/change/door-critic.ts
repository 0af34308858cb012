import * as z from "zod";
import type { Result } from "../../core/result.ts";
import { type Critic, type CriticName, criticFault } from "../../verify/critic.ts";
import { lenses, severities } from "../../verify/defect.ts";
import { shaped, textUpTo, wrong } from "./door-shape.ts";

const says = z.enum(["yes", "no"]);

const criticShape = z.strictObject({
  dimensions: z.strictObject({
    CORRECTNESS: says,
    "CODE-QUALITY": says,
    SECURITY: says,
    "TEST-ADEQUACY": says,
    "DOES-IT-RUN": says,
    "REQUIREMENTS-COVERAGE": says,
  }),
  defects: z
    .array(
      z.strictObject({
        id: textUpTo(64),
        category: z.enum(lenses),
        severity: z.enum(severities),
        location: textUpTo(500),
        fix: textUpTo(4000),
      }),
    )
    .max(50),
  verdict: z.enum(["OK", "FAIL"]),
});

/**
 * A critic's judgment that does not contradict itself. Refuses `critic.shape | critic.id | critic.reserved_id |
 * critic.duplicate_id | critic.dimension | critic.verdict`.
 */
export function criticDoor(value: unknown, name: CriticName): Result<Critic> {
  const shape = shaped(criticShape, value, "critic.shape");
  if (!shape.ok) return shape;
  const fault = criticFault(shape.value, name);
  return fault === null ? shape : wrong(fault.code, fault.field, fault.reason);
}
