/** A run as people and callers see it. */
import type { Owner } from "../core/owner.ts";
import type { PlanDag } from "../kinds/weave/plan-dag.ts";
import type { ReadOriginal } from "./originals.ts";
import type { Ownership } from "./owning.ts";

/** One run as `status --json` gives it. */
export interface RunView {
  readonly id: string;
  readonly kind: string;
  readonly origin: "atlas" | "kimi-atlas" | "hotl" | "lithos";
  readonly stage: string;
  readonly terminal: boolean;
  readonly resumable: boolean;
  /** Why it is not resumable, or what a resume does with it. */
  readonly why: string;
  readonly owner: OwnerView | null;
  readonly progress: { readonly done: number; readonly total: number | null };
  readonly refine_passes: number;
  readonly losses: readonly string[];
  readonly root: string;
  readonly graph?: {
    readonly gas: number;
    readonly ready: readonly string[];
    readonly wave: readonly string[];
    readonly terminated: boolean;
    readonly dag: PlanDag;
  };
}

export interface OwnerView {
  readonly host: string;
  readonly pid: number | null;
  readonly session: string | null;
  readonly since: string | null;
  readonly standing: "ours" | "gone" | "released" | "alive";
}

export function progressOfGraph(
  original: ReadOriginal | null,
): { readonly done: number; readonly total: number } | null {
  if (original?.graph == null) return null;
  const { done, total } = original.graph.progress;
  return { done, total };
}

export function graphView(original: ReadOriginal | null): Pick<RunView, "graph"> | Record<string, never> {
  if (original?.graph == null) return {};
  const { gas, ready, wave, terminated, dag } = original.graph;
  return { graph: { gas, ready, wave, terminated, dag } };
}

export function ownerView(owner: Owner, since: string | null, own: Ownership, released: boolean): OwnerView {
  const standing = released ? "released" : own === "ours" ? "ours" : own === "foreign" ? "alive" : "gone";
  return { host: owner.host, pid: owner.pid, session: owner.session, since, standing };
}
