import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../core/result.ts";
import type { Engine } from "../engine/context.ts";
import { changeSlots } from "../parts/slots.ts";

/** A file the caller names; a little more than the door takes, so that the door says why. */
export function readGiven(engine: Engine, path: string): Buffer {
  const full = resolve(engine.cwd, path);
  try {
    if (!statSync(full).isFile()) throw new UsageError(`${path} is no regular file`, "atlas --help", "usage.file");
    if (statSync(full).size > 2 * changeSlots.packet.bytesMax) {
      throw new UsageError(`${path} is larger than any slot takes`, "atlas --help", "usage.file");
    }
    return readFileSync(full);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path} cannot be read`, "atlas --help", "usage.file");
  }
}
