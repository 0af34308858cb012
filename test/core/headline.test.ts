import { describe, expect, test } from "vitest";
import { applyToHeadline, BLANK, type Headline } from "../../scripts/core/headline.ts";
import { IllegalEvent } from "../../scripts/core/result.ts";
import { bornEvent, claimedEvent, goneOwner } from "../support/ledger.ts";

type Event = { readonly type: string } & Record<string, unknown>;
interface Said {
  readonly stage?: string;
  readonly events?: readonly Event[];
}

function said(...lines: readonly Said[]): Headline {
  return lines.reduce<Headline>(
    (before, { stage, events = [] }, at) =>
      applyToHeadline(before, { ...(stage === undefined ? {} : { stage }), ts: `t${at}`, sum: `${at}`, events }),
    BLANK,
  );
}

const birth: Said = { events: [bornEvent("change")] };

describe("what a run's lines say of it, whatever its kind", () => {
  test("the stage is the last one a line completed; lines without one do not change it", () => {
    expect(said(birth, { stage: "INIT" }, { stage: "TRIAGED" }, {})).toMatchObject({
      stage: "TRIAGED",
      done: ["INIT", "TRIAGED"],
      lastTs: "t3",
    });
  });

  test("a refinement is counted and takes the later stages back", () => {
    const headline = said(birth, { stage: "GROUNDED" }, { stage: "CODED" }, { stage: "VERIFIED" }, { stage: "REFINE" });
    expect(headline).toMatchObject({ stage: "REFINE", refinePasses: 1, done: ["GROUNDED"] });
  });

  test("a stage completed twice stands once", () => {
    expect(said(birth, { stage: "INIT" }, { stage: "INIT" }).done).toEqual(["INIT"]);
  });

  test.each(["ended", "abandoned"])("%s ends it, and nothing takes that back", (type) => {
    const claim = { events: [claimedEvent(goneOwner())] };
    expect(said(birth, claim, { events: [{ type, grade: "typed" }] }).terminal).toBe(true);
    expect(said(birth, claim, { events: [{ type, grade: "typed" }] }, { stage: "OUTPUT" }).terminal).toBe(true);
    expect(said(birth, claim).terminal).toBe(false);
  });

  test("an illegal head is named, never folded", () => {
    expect(() => said({ events: [claimedEvent(goneOwner())] })).toThrow(IllegalEvent);
  });

  test("events of a kind this build does not know are counted all the same", () => {
    expect(said(birth, { stage: "BRAIDED", events: [{ type: "braided" }] })).toMatchObject({ done: ["BRAIDED"] });
  });
});
