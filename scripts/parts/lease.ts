/**
 * Leases: who may hand in which slot. A lease is stamped and charged before the work is printed, and a result
 * without a live lease is refused, so total work handed out never exceeds the gas.
 */
import { IllegalEvent } from "../core/result.ts";

/** Why a lease ended. The first three are bad endings and count as attempts. */
export type LeaseEnd = "timeout" | "error" | "refused" | "taken" | "lost" | "redo" | "moot";

export interface Lease {
  /** `<slot>#<attempt>@<epoch>`; the attempt counts over the whole run, so no token ever comes twice. */
  readonly lease: string;
  readonly slot: string;
  readonly role: string;
  /** ISO time. */
  readonly deadline: string;
  /** A hook saw the agent start, so it is not printed again. */
  readonly started: boolean;
  /** Its owner's process is gone: probe for the result, then end it. */
  readonly orphaned: boolean;
}

export interface Leases {
  readonly live: readonly Lease[];
  /** Leases ever issued, by slot. */
  readonly issued: Readonly<Record<string, number>>;
}

export type LeaseEvent =
  | {
      readonly type: "leased";
      readonly slot: string;
      readonly role: string;
      readonly lease: string;
      readonly deadline: string;
      readonly gasLeft: number;
    }
  | { readonly type: "lease-started"; readonly lease: string }
  | { readonly type: "lease-ended"; readonly lease: string; readonly why: LeaseEnd };

export const NO_LEASES: Leases = { live: [], issued: {} };
/** An agent's time. The deadline stands in the ledger. */
export const LEASE_MS = 30 * 60 * 1000;

export function liveLease(leases: Leases, slot: string): Lease | undefined {
  return leases.live.find((lease) => lease.slot === slot);
}

export function leaseToken(leases: Leases, slot: string, epoch: number): string {
  return `${slot}#${(leases.issued[slot] ?? 0) + 1}@${epoch}`;
}

export function isBadEnd(why: LeaseEnd): boolean {
  return why === "timeout" || why === "error" || why === "refused";
}

export function applyLease(leases: Leases, event: LeaseEvent): Leases {
  switch (event.type) {
    case "leased": {
      if (liveLease(leases, event.slot) !== undefined) throw new IllegalEvent(`${event.slot} is leased`, event.type);
      const { lease, slot, role, deadline } = event;
      return {
        live: [...leases.live, { lease, slot, role, deadline, started: false, orphaned: false }],
        issued: { ...leases.issued, [slot]: (leases.issued[slot] ?? 0) + 1 },
      };
    }
    case "lease-started":
      return {
        ...leases,
        live: leases.live.map((lease) => (lease.lease === event.lease ? { ...lease, started: true } : lease)),
      };
    case "lease-ended": {
      const live = leases.live.filter((lease) => lease.lease !== event.lease);
      if (live.length === leases.live.length) throw new IllegalEvent("no such live lease", event.type);
      return { ...leases, live };
    }
  }
}

/** A claim: leases it carries live on, the others lost their owner's process. */
export function orphanLeases(leases: Leases, carried: readonly string[]): Leases {
  return {
    ...leases,
    live: leases.live.map((lease) => (carried.includes(lease.lease) ? lease : { ...lease, orphaned: true })),
  };
}
