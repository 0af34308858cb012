import { constants } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../core/result.ts";
import type { Engine } from "../engine/context.ts";
import { changeSlots } from "../parts/slots.ts";
import { closeQuietly, errno, failure, readAgain } from "../platform/files.ts";

/** More than any door takes: of a larger file so much is read that its door can say why. */
const bytesMax = 2 * changeSlots.packet.bytesMax;

/** What the machine lacks is no fault of whoever named the file. */
const machineErrors: ReadonlySet<string> = new Set(["EIO", "EMFILE", "ENFILE"]);

/**
 * A file the caller names, at most a little more of it than its door takes; never waits. Throws `usage.file`, and
 * `disk.io`, `disk.limit` where the machine fails.
 */
export function readGiven(engine: Engine, path: string): Buffer {
  const { fs } = engine;
  const full = resolve(engine.cwd, path);
  let fd: number;
  try {
    fd = fs.openSync(full, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (machineErrors.has(errno(error))) throw failure(error, full);
    throw new UsageError(`${path} cannot be read`, "atlas --help", "usage.file");
  }
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) throw new UsageError(`${path} is no regular file`, "atlas --help", "usage.file");
    const buffer = Buffer.alloc(Math.min(stat.size, bytesMax));
    let filled = 0;
    while (filled < buffer.length) {
      const got = readAgain(fs, fd, buffer, filled, filled);
      if (got === 0) break;
      filled += got;
    }
    return buffer.subarray(0, filled);
  } catch (error) {
    throw error instanceof UsageError ? error : failure(error, full);
  } finally {
    closeQuietly(fs, fd);
  }
}
