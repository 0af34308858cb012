import { expect, test } from "vitest";
import { ok } from "../../scripts/core/result.ts";
import { loadRun } from "../../scripts/engine/ledger.ts";
import { transact } from "../../scripts/engine/transact.ts";
import { release } from "../../scripts/hosts/release.ts";
import { syncFolder } from "../../scripts/platform/files.ts";
import { peekRun } from "../../scripts/platform/peek.ts";
import { faultyFileSystem } from "../support/faulty-fs.ts";
import { memoryDisk } from "../support/memory-disk.ts";
import { bornRun, note, smallEngine } from "../support/small-run.ts";

/** A line is written and its writer killed; the next one's line reaches the disk first, and the power goes. */
function tornOrder(next: "a command" | "a hook") {
  const disk = memoryDisk();
  disk.fs.mkdirSync("/project");
  syncFolder(disk.fs, "/");
  const run = bornRun(smallEngine(disk.fs), "/project");
  const killed = { ...faultyFileSystem(disk.fs, () => null), fsyncSync: () => {} };
  transact(smallEngine(killed, "killed"), run, () => ok([note("young")]));
  let after = null as ReturnType<typeof disk.afterPowerLoss> | null;
  const watched = faultyFileSystem(disk.fs, () => null);
  const fs = {
    ...watched,
    writeSync(...args: Parameters<typeof watched.writeSync>) {
      const written = watched.writeSync(...args);
      let writes = 0;
      const isLast = (): boolean => {
        writes += 1;
        return writes > 1;
      };
      // Of the young writes to the log the first is lost; where only one is young, it is whole.
      after ??= disk.afterPowerLoss({ entry: () => true, bytes: (_path, young) => (isLast() ? young : 0) });
      return written;
    },
  };
  if (next === "a command") transact(smallEngine(fs, "next"), run, () => ok([note("next")]));
  else {
    const peeked = peekRun(fs, run.atlas, run.id, process.getuid?.() ?? null);
    if (peeked === null) throw new Error("nothing to peek at");
    expect(release(fs, peeked, { reason: "clear", session: "s", pid: 1, ts: "2026-11-30T19:00:00.000Z" })).toBe(true);
  }
  return { disk: after, run };
}

test.each(["a command", "a hook"] as const)("%s never appends behind a line that the power may still take", (next) => {
  const { disk, run } = tornOrder(next);
  if (disk === null) throw new Error("nothing was written");
  const read = loadRun(disk.fs, run);
  expect(read.ok ? read.loaded.tip.seq : read.unreadable.reason).toBeGreaterThanOrEqual(2);
});
