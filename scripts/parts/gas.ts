import { IllegalEvent } from "../core/result.ts";

/** One gas is one lease begun. Charged when the lease is written, before the work is handed out; never refunded. */
export interface Gas {
  readonly granted: number;
  readonly charged: number;
}

export type GasEvent = {
  readonly type: "gas-granted";
  readonly amount: number;
  readonly why: "birth" | "gate" | "adopted";
};

export const NO_GAS: Gas = { granted: 0, charged: 0 };
/** A change, so each node attempt, is born with this much; without kills it needs at most 26. */
export const CHANGE_GAS = 48;

export function gasLeft(gas: Gas): number {
  return Math.max(0, gas.granted - gas.charged);
}

export function applyGas(gas: Gas, event: GasEvent | { readonly type: "leased" }): Gas {
  if (event.type === "gas-granted") return { ...gas, granted: gas.granted + event.amount };
  if (gasLeft(gas) === 0) throw new IllegalEvent("no gas left", event.type);
  return { ...gas, charged: gas.charged + 1 };
}
