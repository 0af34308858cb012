import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadRun } from "../../scripts/engine/ledger.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { engineWorld, writeRun } from "../support/engine-world.ts";
import { shipped } from "../support/replay.ts";
import { sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-46: a last line cut anywhere, emptied, zeroed or of another shape is passed over and kept; missing acknowledged lines are said", async () => {
  const world = engineWorld();
  const run = writeRun(world, { events: [{ type: "gas-granted", amount: 12, why: "birth" }] });
  const log = join(run.ledger, "log.jsonl");
  const whole = readFileSync(log);
  const last = whole.lastIndexOf("\n\n") + 1;
  const seq = () => {
    const read = loadRun(realFileSystem, run);
    return read.ok ? read.loaded.tip.seq : read.unreadable.code;
  };
  // Cut at every byte: the lines before it, or all of them.
  for (let cut = last; cut <= whole.length; cut += 1) {
    writeFileSync(log, whole.subarray(0, cut));
    expect([cut, seq()]).toEqual([cut, cut >= whole.length - 1 ? 3 : 2]);
  }
  const before = whole.subarray(0, last);
  const session = sit({
    plugin: product.plugin,
    project: world.project,
    env: { XDG_STATE_HOME: join(world.state, "..") },
  });
  const odd = [
    Buffer.alloc(400),
    Buffer.from('\n{"v":1,"status":"done"}\n'),
    Buffer.from("\n\n\n"),
    Buffer.from([0xff, 0xfe, 0x7b]),
  ];
  for (const tail of odd) {
    const bytes = Buffer.concat([before, tail]);
    writeFileSync(log, bytes);
    expect(seq()).toBe(2);
    expect(readFileSync(log)).toEqual(bytes);
  }
  const passed = await session.run("status");
  expect([passed.code, passed.json.runs]).toMatchObject([0, [{ id: run.id, resumable: true }]]);
  // A snapshot knows of the third line: it was acknowledged, so its loss is no tearing.
  writeFileSync(log, whole);
  await session.run("resume");
  writeFileSync(log, before);
  const lost = await session.run("resume", "--run", run.id);
  expect([lost.code, lost.refused?.code], lost.stdout).toEqual([3, "ledger.tail_lost"]);
  expect(readFileSync(log)).toEqual(before);
});
