import { type Refusal, refuse } from "../core/result.ts";
import type { ChangeState, Phase } from "../kinds/change/state.ts";
import type { Engine } from "./context.ts";
import { userTree } from "./effects.ts";
import type { Loaded } from "./ledger.ts";
import { findRuns } from "./runs.ts";

/** Phases in which an interactive run holds the user's tree: from the approved plan to the answered output gate. */
const holding: ReadonlySet<Phase["at"]> = new Set(["prepare", "code", "verify", "critique", "judged", "output"]);

/** The other interactive run that works in the same tree, or null. An unreadable run holds none. */
export function treeHolder(engine: Engine, self: string, loaded: Loaded): string | null {
  const tree = userTree(loaded);
  for (const run of findRuns(engine).runs) {
    if (run.view.id === self || run.loaded?.kind.name !== "change") continue;
    const other = run.loaded as Loaded<ChangeState>;
    const { isolated, phase } = other.state;
    if (!isolated && holding.has(phase.at) && userTree(other) === tree) return run.view.id;
  }
  return null;
}

export function refuseTreeInUse(holder: string): { readonly ok: false; readonly error: Refusal } {
  return refuse(
    "tree.in_use",
    `run ${holder} works in this tree; one interactive run a tree. Go on with it, or end it: atlas abandon --run ${holder}`,
    `atlas resume --run ${holder}`,
  );
}
