import { spawn } from "node:child_process";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { expect, test } from "vitest";
import { loadRun } from "../../scripts/engine/ledger.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { shipped } from "../support/replay.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { sit } from "../support/scripted-run.ts";
import { bornRun, smallEngine } from "../support/small-run.ts";

const product = shipped();
const writers = 8;
const each = 12;

test("C-45: with many writers no event is lost, and no reader ever sees anything but a whole run", async () => {
  const world = product.world();
  const script = join(world.project, "..", "appender.cjs");
  buildSync({
    absWorkingDir: repositoryRoot,
    entryPoints: ["test/support/appender-entry.ts"],
    bundle: true,
    platform: "node",
    format: "cjs",
    outfile: script,
  });
  const run = bornRun(smallEngine(realFileSystem), world.project);
  const children = Array.from({ length: writers }, (_, n) =>
    spawn(process.execPath, [script, world.project, run.id, `w${n}`, String(each)], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  );
  const ended = Promise.all(
    children.map((child) => new Promise<number | null>((resolve) => child.on("close", resolve))),
  );
  await Promise.all(children.map((child) => new Promise((resolve) => child.stdout.once("data", resolve))));
  for (const child of children) child.stdin.write("go\n");
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const status = sit(world).run("status");
  let seq = 0;
  while (!over) {
    const read = loadRun(realFileSystem, run);
    if (!read.ok) throw new Error(read.unreadable.reason);
    expect(read.loaded.tip.seq).toBeGreaterThanOrEqual(seq);
    seq = read.loaded.tip.seq;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await ended).toEqual(Array(writers).fill(0));
  expect((await status).json.runs).toMatchObject([{ id: run.id, losses: [] }]);
  const read = loadRun(realFileSystem, run, false);
  expect(read.ok && read.loaded.tip.seq).toBe(1 + writers * each);
});
