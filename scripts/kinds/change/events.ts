import type { HeadEvent } from "../../core/head.ts";
import type { ChangeStage } from "../../core/stage-names.ts";
import type { EffectEvent } from "../../parts/effect.ts";
import type { GasEvent } from "../../parts/gas.ts";
import type { GateEvent } from "../../parts/gate.ts";
import type { LeaseEvent } from "../../parts/lease.ts";
import type { Pass } from "../../parts/passes.ts";
import type { TreeEvent } from "../../parts/tree.ts";
import type { CommandRole } from "../../verify/command-role.ts";
import type { DeliveryChoice, EndStatus, Label } from "./state.ts";

/** A foreign file as it was at adoption; every deciding command checks it again. */
export interface ForeignFile {
  /** Below the foreign run's folder. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** Past facts of a change run. One line holds all events of one decision and completes at most one stage. */
export type ChangeEvent =
  | HeadEvent
  | GasEvent
  | LeaseEvent
  | GateEvent
  | TreeEvent
  | EffectEvent
  | {
      readonly type: "opened";
      readonly packet: string;
      readonly missing: readonly string[];
      readonly assumed: readonly string[];
      readonly hasCommand: boolean;
      readonly hasSetup?: boolean;
      readonly baseline: string | null;
    }
  | {
      readonly type: "adopted";
      readonly stage: ChangeStage;
      readonly pass: Pass;
      /** Stages the original recorded as done. */
      readonly stages: readonly ChangeStage[];
      readonly packet: string | null;
      readonly hasCommand: boolean;
      /** Its command is one that needs nobody's word headless. */
      readonly listedCommand?: boolean;
      readonly hasSetup?: boolean;
      readonly assumed?: readonly string[];
      readonly baseline: string | null;
      readonly losses: readonly string[];
      readonly files: readonly ForeignFile[];
      /** One hash over all of them, sub-runs' files included. */
      readonly foreign: string;
      /** Trees of the dead turn, paths below the foreign run; the first is the product at CODED and VERIFIED. */
      readonly trees: readonly string[];
    }
  | {
      readonly type: "packet-set";
      readonly listedCommand?: boolean;
      readonly packet: string;
      readonly assumed: readonly string[];
      readonly hasCommand: boolean;
      readonly hasSetup?: boolean;
      readonly baseline: string | null;
    }
  | { readonly type: "stage"; readonly stage: ChangeStage }
  | {
      readonly type: "filled";
      readonly slot: string;
      readonly pass: Pass;
      readonly sha256: string;
      readonly bytes: number;
      readonly via: "root" | "hook" | "relayed";
      readonly lease: string | null;
      readonly tree?: string;
    }
  | { readonly type: "degraded"; readonly slot: string; readonly pass: Pass; readonly why: string }
  | { readonly type: "based"; readonly tree: string }
  | { readonly type: "prepared"; readonly tree: string | null }
  /** A command of the pass ended; `sha256` names what it left, `more` the commands that are wanted because of it. */
  | {
      readonly type: "measured";
      readonly pass: Pass;
      readonly of: CommandRole;
      readonly sha256: string;
      readonly ending: string;
      readonly more: readonly CommandRole[];
    }
  | { readonly type: "evidence"; readonly pass: Pass; readonly sha256: string; readonly ending: string }
  /** By a human's word: an isolated tree back to the checkpoint recorded at or before line `to`. */
  | { readonly type: "rolled-back"; readonly to: number; readonly tree: string }
  | { readonly type: "command-lost"; readonly pass: Pass; readonly of?: CommandRole }
  | {
      readonly type: "judged";
      readonly pass: Pass;
      readonly label: Label;
      readonly refine: boolean;
      readonly reasons: readonly string[];
      readonly blocking: number;
    }
  | { readonly type: "labelled"; readonly label: Label; readonly reasons: readonly string[] }
  /** The human's choice at the output gate that touches the user's files; owed until it is delivered. */
  | { readonly type: "delivery-wanted"; readonly choice: DeliveryChoice }
  | { readonly type: "delivered"; readonly choice: DeliveryChoice; readonly written: number; readonly left: number }
  | { readonly type: "ended"; readonly status: EndStatus; readonly choice: string | null };
