import type { Packet } from "../kinds/change/door-packet.ts";
import type { ChangeState } from "../kinds/change/state.ts";
import { readArtifact } from "./artifacts.ts";
import type { Engine } from "./context.ts";
import type { Loaded } from "./ledger.ts";

export const PACKET_ARTIFACT = { slot: "packet", pass: 0, extension: "json" } as const;

/** The frozen request; null while a recovered run has none. It passed the door when it was written. */
export function readPacket(engine: Pick<Engine, "fs">, loaded: Loaded<ChangeState>): Packet | null {
  const { packet } = loaded.state;
  if (packet === null) return null;
  return JSON.parse(readArtifact(engine.fs, loaded.folder, PACKET_ARTIFACT, packet).toString("utf8")) as Packet;
}
