import { type Refusal, refuse } from "../core/result.ts";
import type { ChangeState, Phase } from "../kinds/change/state.ts";
import type { Engine } from "./context.ts";
import { userTree } from "./effects.ts";
import type { Loaded } from "./ledger.ts";
import { type FoundRun, findRuns } from "./runs.ts";

/** Phases in which an interactive run holds the user's tree: from the approved plan to the answered output gate. */
const holding: ReadonlySet<Phase["at"]> = new Set(["prepare", "code", "verify", "critique", "judged", "output"]);

export type Holder = FoundRun & { readonly loaded: Loaded<ChangeState> };

/** The other interactive runs that hold the same tree, newest first. An unreadable run holds none. */
export function holdersOf(engine: Engine, self: string, loaded: Loaded): readonly Holder[] {
  const tree = userTree(loaded);
  return findRuns(engine).runs.filter((run): run is Holder => {
    if (run.view.id === self || run.loaded?.kind.name !== "change") return false;
    const { isolated, phase } = (run.loaded as Loaded<ChangeState>).state;
    return !isolated && holding.has(phase.at) && userTree(run.loaded) === tree;
  });
}

/** The other interactive run that holds the same tree, or null. */
export function treeHolder(engine: Engine, self: string, loaded: Loaded): string | null {
  return holdersOf(engine, self, loaded)[0]?.view.id ?? null;
}

export function refuseTreeInUse(holder: string): { readonly ok: false; readonly error: Refusal } {
  return refuse(
    "tree.in_use",
    `run ${holder} works in this tree; one interactive run a tree. Go on with it, or end it: atlas abandon --run ${holder}`,
    `atlas resume --run ${holder}`,
  );
}
