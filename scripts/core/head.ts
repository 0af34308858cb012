/**
 * The head of a run: the events every kind shares (birth, ownership, the end by a human's word), folded the same
 * way for all of them. Kinds see these events too; what they mean for ownership is decided here alone.
 */
import type { Owner } from "./owner.ts";
import { IllegalEvent } from "./result.ts";

export type Origin = "atlas" | "kimi-atlas" | "hotl" | "lithos";
export type InvocationForm = "interactive" | "headless";

export type HeadEvent =
  | {
      readonly type: "born";
      readonly kind: string;
      readonly origin: Origin;
      readonly form: InvocationForm;
      /** sha-256 of packet + root: `start` with the same digest is a resume of this run. */
      readonly digest: string;
      /** Absolute paths at birth; telemetry and the guard against a moved folder. */
      readonly root: string;
      /** The user's working tree, absolute, where it is not `root` (a linked worktree); null: `root` itself. */
      readonly top: string | null;
      /** Absolute git common dir, null outside git. */
      readonly commonDir: string | null;
    }
  | {
      readonly type: "claimed";
      readonly epoch: number;
      readonly version: number;
      readonly owner: Owner;
      readonly why: "born" | "resume" | "released" | "take-over" | "forked";
      /** Leases of the released epoch that stay valid: same host process, new session. */
      readonly carried: readonly string[];
      readonly exclusive: boolean;
      readonly grade?: Grade;
    }
  | { readonly type: "released"; readonly epoch: number; readonly reason: string }
  | { readonly type: "abandoned"; readonly grade: Grade }
  | { readonly type: "forked"; readonly from: string; readonly at: number; readonly id: string };

/** How sure we are that a human gave an answer. */
export type Grade = "host" | "typed" | "relayed" | "headless-default" | "none";

export interface Head {
  readonly kind: string | null;
  readonly origin: Origin;
  readonly form: InvocationForm;
  readonly digest: string;
  readonly root: string;
  readonly top: string | null;
  readonly commonDir: string | null;
  /** 0 before the first claim. */
  readonly epoch: number;
  readonly owner: Owner | null;
  readonly claimedAt: string | null;
  /** Sum of the claiming line: half of the claim token. */
  readonly claimSum: string;
  readonly exclusive: boolean;
  readonly released: boolean;
  readonly abandoned: boolean;
}

export const UNBORN: Head = {
  kind: null,
  origin: "atlas",
  form: "interactive",
  digest: "",
  root: "",
  top: null,
  commonDir: null,
  epoch: 0,
  owner: null,
  claimedAt: null,
  claimSum: "",
  exclusive: false,
  released: false,
  abandoned: false,
};

const headTypes = new Set(["born", "claimed", "released", "abandoned", "forked"]);

export function isHeadEvent(event: { readonly type: string }): event is HeadEvent {
  return headTypes.has(event.type);
}

/** `at` tells which line the event stands in. Events of other parts leave the head as it is. */
export function applyHead(
  head: Head,
  event: { readonly type: string },
  at: { readonly sum: string; readonly ts: string },
): Head {
  if (!isHeadEvent(event)) {
    if (head.kind === null) throw new IllegalEvent("unborn", event.type);
    return head;
  }
  if (event.type !== "born" && head.kind === null) throw new IllegalEvent("unborn", event.type);
  if (event.type !== "born" && head.abandoned) throw new IllegalEvent("abandoned", event.type);
  switch (event.type) {
    case "born":
      if (head.kind !== null) throw new IllegalEvent("born", event.type);
      return {
        ...head,
        kind: event.kind,
        origin: event.origin,
        form: event.form,
        digest: event.digest,
        root: event.root,
        top: event.top,
        commonDir: event.commonDir,
      };
    case "claimed":
      if (event.epoch !== head.epoch + 1) throw new IllegalEvent(`epoch ${head.epoch}`, `claimed ${event.epoch}`);
      return {
        ...head,
        epoch: event.epoch,
        owner: event.owner,
        claimedAt: at.ts,
        claimSum: at.sum,
        exclusive: event.exclusive,
        released: false,
      };
    case "released":
      if (event.epoch !== head.epoch) throw new IllegalEvent(`epoch ${head.epoch}`, `released ${event.epoch}`);
      return { ...head, released: true };
    case "abandoned":
      return { ...head, abandoned: true };
    case "forked":
      // A fork lies apart from the foreign files its parent was adopted from.
      return { ...head, origin: "atlas", digest: "", owner: null, released: true };
  }
}

/** `<epoch>.<first 10 hex of the claiming line's sum>`: a fence, not a secret. */
export function claimToken(head: Head): string {
  return `${head.epoch}.${head.claimSum.slice(0, 10)}`;
}
