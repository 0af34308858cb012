/** The shape of every event of a change run: what is not here is an event of a newer atlas. */
import type { ShapesOf } from "../../core/shape.ts";
import { CHANGE_STAGES } from "../../core/stage-names.ts";
import { EFFECT_SHAPES, GRADES, HEAD_SHAPES, TREE_SHAPES } from "../../parts/shapes.ts";
import { commandRoles } from "../../verify/command-role.ts";
import type { ChangeEvent } from "./events.ts";

const gates = ["clarify", "approve-command", "pre-code", "plan", "output", "gas"] as const;
const labels = ["VERIFIED", "UNVERIFIED"] as const;

export const CHANGE_SHAPES: ShapesOf<ChangeEvent> = {
  ...HEAD_SHAPES,
  ...TREE_SHAPES,
  ...EFFECT_SHAPES,
  "gas-granted": { amount: "count", why: "text" },
  leased: { slot: "word", role: "word", lease: "lease", deadline: "text", gasLeft: "count" },
  "lease-started": { lease: "lease" },
  "lease-ended": { lease: "lease", why: ["timeout", "error", "refused", "taken", "lost", "redo", "moot"] },
  asked: { gate: gates, nonce: "text", options: "texts" },
  answered: { gate: gates, nonce: "text", choice: "text", grade: GRADES, "text?": "hash" },
  opened: {
    packet: "hash",
    missing: "texts",
    assumed: "texts",
    hasCommand: "flag",
    "hasSetup?": "flag",
    baseline: "oid?",
  },
  adopted: {
    stage: CHANGE_STAGES,
    pass: "pass",
    stages: "texts",
    packet: "hash?",
    hasCommand: "flag",
    "listedCommand?": "flag",
    "hasSetup?": "flag",
    "assumed?": "texts",
    baseline: "oid?",
    losses: "texts",
    files: "files",
    foreign: "text",
    trees: "paths",
  },
  "packet-set": {
    packet: "hash",
    assumed: "texts",
    hasCommand: "flag",
    "hasSetup?": "flag",
    "listedCommand?": "flag",
    baseline: "oid?",
  },
  stage: { stage: CHANGE_STAGES },
  filled: {
    slot: "word",
    pass: "pass",
    sha256: "hash",
    bytes: "count",
    via: ["root", "hook", "relayed"],
    lease: "lease?",
    "tree?": "oid",
  },
  degraded: { slot: "word", pass: "pass", why: "text" },
  based: { tree: "oid" },
  prepared: { tree: "path?" },
  measured: { pass: "pass", of: commandRoles, sha256: "hash", ending: "text", more: "texts" },
  evidence: { pass: "pass", sha256: "hash", ending: "text" },
  "rolled-back": { to: "count", tree: "oid" },
  "command-lost": { pass: "pass", "of?": commandRoles },
  judged: { pass: "pass", label: labels, refine: "flag", reasons: "texts", blocking: "count" },
  labelled: { label: labels, reasons: "texts" },
  "delivery-wanted": { choice: ["apply", "discard"] },
  delivered: { choice: ["apply", "discard"], written: "count", left: "count" },
  ended: { status: ["verified", "unverified", "abandoned"], choice: "text?" },
};
