/**
 * Working trees a run makes for itself. Each name carries the epoch that made it, so a killed owner that wakes
 * cannot write where a later one works. A tree is only ever taken away after its content is kept under a ref.
 */
import { IllegalEvent } from "../core/result.ts";
import type { EffectEvent } from "./effect.ts";

export type TreeStatus = "wanted" | "ready" | "stale" | "kept" | "removed" | "left";

export interface Tree {
  /** `e<epoch>.<n>`, below `worktree/` of the run. For an adopted run's own tree: its path below the run. */
  readonly name: string;
  readonly foreign: boolean;
  /** What the tree is built from: a snapshot tree id; null: the baseline commit's files. */
  readonly from: string | null;
  readonly status: TreeStatus;
  readonly ref: string | null;
}

export interface Trees {
  readonly all: readonly Tree[];
}

export type TreeEvent =
  | { readonly type: "tree-wanted"; readonly name: string; readonly from: string | null; readonly foreign: boolean }
  | { readonly type: "tree-ready"; readonly name: string }
  | { readonly type: "tree-staled"; readonly name: string }
  | {
      readonly type: "tree-kept";
      readonly name: string;
      readonly ref: string;
      readonly tree?: string;
      readonly ignored: number;
    }
  | { readonly type: "tree-removed"; readonly name: string }
  | { readonly type: "tree-left"; readonly name: string; readonly why: string };

export type TreeEffect =
  | { readonly effect: "make-tree"; readonly name: string; readonly from: string | null }
  | { readonly effect: "keep-tree"; readonly name: string; readonly foreign: boolean }
  | { readonly effect: "remove-tree"; readonly name: string; readonly foreign: boolean; readonly ref: string };

export const NO_TREES: Trees = { all: [] };

const legal: Readonly<Record<Exclude<TreeEvent["type"], "tree-wanted">, readonly TreeStatus[]>> = {
  "tree-ready": ["wanted"],
  "tree-staled": ["ready", "wanted"],
  "tree-kept": ["stale"],
  "tree-removed": ["kept", "stale"],
  "tree-left": ["stale", "kept", "wanted"],
};

export function applyTree(trees: Trees, event: TreeEvent): Trees {
  const found = trees.all.find((tree) => tree.name === event.name);
  if (event.type === "tree-wanted") {
    if (found !== undefined) throw new IllegalEvent(`tree ${event.name} exists`, event.type);
    const { name, from, foreign } = event;
    return { all: [...trees.all, { name, from, foreign, status: foreign ? "stale" : "wanted", ref: null }] };
  }
  if (found === undefined) throw new IllegalEvent("no such tree", event.type);
  if (!legal[event.type].includes(found.status)) throw new IllegalEvent(`tree ${found.status}`, event.type);
  const after: Tree = {
    ...found,
    status: statusAfter[event.type],
    ref: event.type === "tree-kept" ? event.ref : found.ref,
  };
  return { all: trees.all.map((tree) => (tree === found ? after : tree)) };
}

const statusAfter: Readonly<Record<Exclude<TreeEvent["type"], "tree-wanted">, TreeStatus>> = {
  "tree-ready": "ready",
  "tree-staled": "stale",
  "tree-kept": "kept",
  "tree-removed": "removed",
  "tree-left": "left",
};

/** Stale trees go first: nothing new is made beside what still has to be kept. */
export function owedTrees(trees: Trees): readonly TreeEffect[] {
  const owed: TreeEffect[] = [];
  for (const { name, foreign, status, ref } of trees.all) {
    if (status === "stale") owed.push({ effect: "keep-tree", name, foreign });
    if (status === "kept") owed.push({ effect: "remove-tree", name, foreign, ref: ref as string });
  }
  for (const { name, from, status } of trees.all) {
    if (status === "wanted") owed.push({ effect: "make-tree", name, from });
  }
  return owed;
}

export function readyTree(trees: Trees): Tree | null {
  return trees.all.find((tree) => tree.status === "ready") ?? null;
}

/** How a tree effect went. */
export type TreeOutcome =
  | { readonly of: "make-tree" }
  | { readonly of: "keep-tree"; readonly ref: string; readonly tree?: string; readonly ignored: number }
  | { readonly of: "gone" }
  | { readonly of: "left"; readonly why: string };

export function treeEffectKey(effect: TreeEffect): string {
  return `${effect.effect}:${effect.name}`;
}

/** The facts an outcome leaves, and how the effect itself ended. */
export function treeEnd(
  effect: TreeEffect,
  outcome: TreeOutcome,
): readonly [EffectEvent & { readonly type: "effect-ended" }, TreeEvent] {
  const { name } = effect;
  const ended = (how: "done" | "left") => ({ type: "effect-ended", key: treeEffectKey(effect), outcome: how }) as const;
  switch (outcome.of) {
    case "make-tree":
      return [ended("done"), { type: "tree-ready", name }];
    case "keep-tree": {
      const { ref, tree, ignored } = outcome;
      return [ended("done"), { type: "tree-kept", name, ref, ignored, ...(tree === undefined ? {} : { tree }) }];
    }
    case "gone":
      return [ended("done"), { type: "tree-removed", name }];
    case "left":
      return [ended("left"), { type: "tree-left", name, why: outcome.why }];
  }
}
