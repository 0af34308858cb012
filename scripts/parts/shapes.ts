/** The shapes of the events that kinds share. */
import type { HeadEvent } from "../core/head.ts";
import type { ShapesOf } from "../core/shape.ts";
import type { EffectEvent } from "./effect.ts";
import type { TreeEvent } from "./tree.ts";

const grades = ["host", "typed", "relayed", "headless-default", "none"] as const;

export const HEAD_SHAPES: ShapesOf<HeadEvent> = {
  born: {
    kind: "text",
    origin: ["atlas", "kimi-atlas", "hotl", "lithos"],
    form: ["interactive", "headless"],
    digest: "text",
    root: "text",
    top: "text?",
    commonDir: "text?",
  },
  claimed: {
    epoch: "count",
    version: "count",
    owner: "owner",
    why: ["born", "resume", "released", "take-over", "forked"],
    carried: "texts",
    exclusive: "flag",
    "grade?": grades,
  },
  released: { epoch: "count", reason: "text" },
  abandoned: { grade: grades },
  forked: { from: "text", at: "count", id: "text" },
};

export const TREE_SHAPES: ShapesOf<TreeEvent> = {
  "tree-wanted": { name: "path", from: "oid?", foreign: "flag" },
  "tree-ready": { name: "path" },
  "tree-staled": { name: "path" },
  "tree-kept": { name: "path", ref: "text", "tree?": "oid", ignored: "count" },
  "tree-removed": { name: "path" },
  "tree-left": { name: "path", why: "text" },
};

export const EFFECT_SHAPES: ShapesOf<EffectEvent> = {
  "effect-began": { key: "text", epoch: "count", performer: "process", "group?": "object", "ticket?": "object" },
  "effect-ended": { key: "text", outcome: ["done", "lost", "left"] },
};

export const GRADES = grades;
