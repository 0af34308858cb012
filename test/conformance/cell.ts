/** Declares the tests of one property: one for each of its cells and kinds of run, none of which may be missing. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cells, type Kind, type Property } from "./cells.ts";

declare module "vitest" {
  interface TaskMeta {
    /** Read by `conform.ts`. */
    conformance?: { readonly property: Property; readonly cell: string; readonly kind: Kind };
  }
}

export type Probe = () => void | Promise<void>;

export interface Suite {
  cell(name: string, probes: Readonly<Partial<Record<Kind, Probe>>>): void;
}

const timeoutMs = 240_000;

/** The seed of this test run; ATLAS_SEED repeats it. */
export const { seed = 1 } = fc.readConfigureGlobal();

/** How much is tried where more can be: 1 in the tests, `npm run conform` sets more. */
export const rounds = Math.max(1, Number.parseInt(process.env.CONFORM_ROUNDS ?? "", 10) || 1);

export function conformance(property: Property, declare: (suite: Suite) => void): void {
  describe(property, () => {
    const declared: string[] = [];
    declare({
      cell(cell, probes) {
        for (const [kind, probe] of Object.entries(probes) as [Kind, Probe][]) {
          declared.push(`${cell}: ${kind}`);
          const meta = { conformance: { property, cell, kind } };
          test(`${cell} (${kind})`, { timeout: timeoutMs, meta }, async () => {
            await probe();
          });
        }
      },
    });
    const wanted = cells
      .filter((one) => one.property === property)
      .flatMap(({ cell, kinds }) => kinds.map((kind) => `${cell}: ${kind}`));
    test("has a test for each of its cells", () => {
      expect([...declared].sort()).toEqual([...wanted].sort());
    });
  });
}
