import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { markFinished } from "../../scripts/engine/views.ts";
import { isMarked } from "../../scripts/platform/finished.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { knowRun } from "../../scripts/platform/known-runs.ts";
import { shortSha256 } from "../../scripts/platform/short-hash.ts";
import { stoppingBefore } from "../platform/git-world.ts";
import { engineWorld, writeRun } from "../support/engine-world.ts";

test("killed anywhere while a finished run is noted, either it is unmarked and noted again, or nothing remembers it", () => {
  let calls = 0;
  for (let whole = false; !whole; calls += 1) {
    const world = engineWorld();
    const run = writeRun(world, { ended: true });
    knowRun(realFileSystem, world.state, world.project, run.id);
    const known = join(world.state, "runs", shortSha256(world.project).slice(0, 32), run.id);
    expect(existsSync(known)).toBe(true);
    try {
      markFinished({ ...world.engine, fs: stoppingBefore(calls + 1).fs }, run);
      whole = true;
    } catch (error) {
      expect(String(error)).toMatch(/killed|UNKNOWN/);
    }
    const isRemembered = existsSync(known);
    expect(isRemembered && isMarked(realFileSystem, world.atlas, run.id)).toBe(false);
    expect(whole && isRemembered).toBe(false);
  }
  expect(calls).toBeGreaterThan(2);
}, 60_000);
