import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../core/result.ts";
import type { Engine } from "../engine/context.ts";
import { changeSlots } from "../parts/slots.ts";

/** More than any door takes: of a larger file so much is read that its door can say why. */
const bytesMax = 2 * changeSlots.packet.bytesMax;

/** A file the caller names, at most a little more of it than its door takes. Throws `usage.file`; never waits. */
export function readGiven(engine: Engine, path: string): Buffer {
  const full = resolve(engine.cwd, path);
  let fd: number;
  try {
    fd = openSync(full, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch {
    throw new UsageError(`${path} cannot be read`, "atlas --help", "usage.file");
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new UsageError(`${path} is no regular file`, "atlas --help", "usage.file");
    const buffer = Buffer.alloc(Math.min(stat.size, bytesMax));
    let filled = 0;
    while (filled < buffer.length) {
      const got = readSync(fd, buffer, filled, buffer.length - filled, filled);
      if (got === 0) break;
      filled += got;
    }
    return buffer.subarray(0, filled);
  } finally {
    closeSync(fd);
  }
}
