import { createHash } from "node:crypto";
import type { Sha256 } from "../core/ids.ts";
import { plainSha256 } from "./plain-hash.ts";

/** What a process hashes in plain code: a short log and a name or two. Beyond it, loading node's module pays. */
const plainBytesMax = 4096;
let hashedBytes = 0;

/** Hex sha-256 of bytes or of a text's UTF-8. */
export function sha256(bytes: Uint8Array | string): Sha256 {
  hashedBytes += bytes.length;
  if (hashedBytes > plainBytesMax) return createHash("sha256").update(bytes).digest("hex") as Sha256;
  return plainSha256(typeof bytes === "string" ? Buffer.from(bytes, "utf8") : bytes) as Sha256;
}
