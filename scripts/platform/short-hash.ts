/** sha-256 of a short text, for a hook: a run whose id may not be said should not cost every session node's module. */
import { sha256 } from "./hash.ts";
import { plainSha256 } from "./plain-hash.ts";

/** One block of the algorithm and a little more: beyond it node's module pays. */
export const SHORT_BYTES_MAX = 256;

/** The same as `sha256`, however much was hashed before. */
export function shortSha256(text: string): string {
  const bytes = Buffer.from(text, "utf8");
  return bytes.length > SHORT_BYTES_MAX ? sha256(bytes) : plainSha256(bytes);
}
