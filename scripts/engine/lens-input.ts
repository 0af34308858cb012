import type { Packet } from "../kinds/change/door-packet.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import type { ChangedFile } from "../verify/changed-file.ts";
import type { Evidence } from "../verify/evidence.ts";
import type { Engine } from "./context.ts";
import type { Loaded } from "./ledger.ts";

/** What a lens may look at. */
export interface LensInput {
  readonly engine: Engine;
  readonly loaded: Loaded<ChangeState>;
  readonly packet: Packet;
  /** Absolute root of the tree that was coded and built. */
  readonly root: string;
  readonly files: readonly ChangedFile[];
  readonly measured: Omit<Evidence, "lenses">;
}
