import { createHash } from "node:crypto";
import type { Sha256 } from "../core/ids.ts";

/** Hex sha-256 of bytes or of a text's UTF-8. */
export function sha256(bytes: Uint8Array | string): Sha256 {
  return createHash("sha256").update(bytes).digest("hex") as Sha256;
}
