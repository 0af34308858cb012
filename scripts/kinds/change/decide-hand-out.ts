import type { Moment } from "../../core/kind.ts";
import { type NonEmpty, ok, type Refusal, type Result } from "../../core/result.ts";
import { admitted, type Room } from "../../parts/admission.ts";
import { gasLeft } from "../../parts/gas.ts";
import { LEASE_MS, leaseToken, liveLease } from "../../parts/lease.ts";
import type { ChangeEvent } from "./events.ts";
import { endEvents } from "./labels.ts";
import { roleOf, wantedSlots } from "./next.ts";
import type { ChangeState } from "./state.ts";

/** Leases for what the run waits for, as many as gas and the machine allow; null where nothing goes out now. */
export function handOut(
  state: ChangeState,
  moment: Moment,
  room: Room | null,
): Result<NonEmpty<ChangeEvent> | null, Refusal> {
  const slots = wantedSlots(state).filter(
    (slot) => roleOf(slot) !== "root" && liveLease(state.leases, slot) === undefined,
  );
  if (slots.length === 0 || state.gates.open !== null) return ok(null);
  if (gasLeft(state.gas) === 0) {
    // What is out was paid for: it comes in before anybody is asked or anything ends.
    if (state.leases.live.length > 0) return ok(null);
    if (state.form === "headless") return ok(endEvents(state, "UNVERIFIED", ["gas.exhausted"], moment));
    return ok([{ type: "asked", gate: "gas", nonce: moment.fresh("gate"), options: ["grant:<n>", "stop"] }]);
  }
  const deadline = new Date(moment.now + LEASE_MS).toISOString();
  const running = state.leases.live.map((lease) => lease.role);
  const going = admitted(slots.map(roleOf), running, room).map((index) => slots[index] as string);
  if (going.length === 0) return ok(null);
  const leased = going.slice(0, gasLeft(state.gas)).map(
    (slot, index): ChangeEvent => ({
      type: "leased",
      slot,
      role: roleOf(slot),
      lease: leaseToken(state.leases, slot, state.head.epoch),
      deadline,
      gasLeft: gasLeft(state.gas) - index - 1,
    }),
  );
  return ok(leased as unknown as NonEmpty<ChangeEvent>);
}
