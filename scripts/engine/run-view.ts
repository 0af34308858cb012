/** A run as people and callers see it. */
import { isIsoTime } from "../core/order.ts";
import type { Owner } from "../core/owner.ts";
import type { RefusalCode } from "../core/result.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import type { PlanDag } from "../kinds/weave/plan-dag.ts";
import { type Gas, gasLeft } from "../parts/gas.ts";
import { progressOf, spokenStage } from "../platform/spoken.ts";
import type { Engine } from "./context.ts";
import type { Loaded } from "./ledger.ts";
import type { ReadOriginal } from "./originals.ts";
import { type Ownership, ownership } from "./owning.ts";

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
  /** Leases begun and leases left, over all attempts and crashes. */
  readonly gas?: { readonly spent: number; readonly left: number };
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
  const { graph } = original;
  const { gas, ready, wave, terminated } = graph;
  // Only who prints the whole plan pays for it.
  const dag = { enumerable: true, get: () => graph.dag };
  return {
    graph: Object.defineProperty({ gas, ready, wave, terminated }, "dag", dag) as NonNullable<RunView["graph"]>,
  };
}

/** A run of ours as it was folded; `untrusted`: why it is not to be resumed unasked. */
export function ownView(
  engine: Engine,
  loaded: Loaded,
  original: ReadOriginal | null,
  untrusted: RefusalCode | null,
): RunView {
  const { headline, folder } = loaded;
  const { head } = headline;
  const own = ownership(engine, head, null);
  const state = loaded.state as Partial<ChangeState> & { readonly stage?: string | null };
  // A list is read by a model: a ledger's own words do not stand in it.
  const losses = ((loaded.state as { readonly losses?: readonly string[] }).losses ?? []).filter(isCode);
  return {
    id: folder.id,
    kind: loaded.kind.name,
    origin: head.origin,
    stage: state.stage ?? (headline.stage === null ? "INIT" : spokenStage(headline.stage)),
    terminal: headline.terminal,
    resumable: !headline.terminal && own !== "foreign" && untrusted === null,
    why: headline.terminal ? "finished" : (untrusted ?? (own === "foreign" ? "owner.alive" : "unfinished")),
    owner: head.owner === null ? null : ownerView(head.owner, timeOf(head.claimedAt), own, head.released),
    progress: progressOfGraph(original) ?? progressOf(loaded.kind.name, state.stages ?? headline.done),
    refine_passes: state.refinePasses ?? headline.refinePasses,
    losses,
    root: folder.root,
    ...gasView(state.gas),
    ...graphView(original),
  };
}

/** Absent for a kind that counts otherwise. */
function gasView(gas: Gas | undefined): Pick<RunView, "gas"> | Record<string, never> {
  return gas === undefined ? {} : { gas: { spent: gas.charged, left: gasLeft(gas) } };
}

function timeOf(text: string | null): string | null {
  return isIsoTime(text) ? text : null;
}

function isCode(text: string): boolean {
  return /^[a-z][a-z0-9._-]{0,39}$/.test(text);
}

function ownerView(owner: Owner, since: string | null, own: Ownership, released: boolean): OwnerView {
  const standing = released ? "released" : own === "ours" ? "ours" : own === "foreign" ? "alive" : "gone";
  return { host: owner.host, pid: owner.pid, session: owner.session, since, standing };
}
