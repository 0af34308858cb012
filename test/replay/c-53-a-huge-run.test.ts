import { spawnSync } from "node:child_process";
import { closeSync, ftruncateSync, openSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ok } from "../../scripts/core/result.ts";
import { transact } from "../../scripts/engine/transact.ts";
import { engineWorld, writeRun } from "../support/engine-world.ts";
import { bornEvent, claimedEvent, goneOwner, RUN, sealedLog } from "../support/ledger.ts";
import { shipped } from "../support/replay.ts";
import { cliEnvironment } from "../support/run-cli.ts";
import { note } from "../support/small-run.ts";

const product = shipped();
const events = 100_000;

test("C-53: a run of 100,000 events and 300 MB of output is looked at in a moment, in a hundred megabytes", () => {
  const world = engineWorld();
  const run = writeRun(world);
  const log = join(run.ledger, "log.jsonl");
  const born = { ...bornEvent("change", "atlas", world.project), commonDir: world.commonDir };
  const many = Array.from({ length: 500 }, () => ({ ...note("x") }));
  const specs = [
    { events: [born] },
    { events: [claimedEvent(goneOwner())] },
    ...Array(events / 500).fill({ events: many }),
  ];
  writeFileSync(log, sealedLog(RUN, specs));
  // One more decision: what is written beside it spares the next reader all before it.
  transact(world.engine, run, () => ok([note("last")]));
  for (const name of ["artifacts-command.log", "transcript.jsonl"]) {
    const fd = openSync(join(run.ledger, name), "w");
    ftruncateSync(fd, 150_000_000);
    closeSync(fd);
  }
  expect(statSync(log).size).toBeGreaterThan(4_000_000);

  const report = join(dirname(world.project), "used.cjs");
  writeFileSync(
    report,
    "process.on('exit', () => process.stderr.write(`\\nused ${process.resourceUsage().maxRSS} ${Math.round(performance.now())}`));\n",
  );
  const used = (words: readonly string[]) => {
    const env = cliEnvironment({ XDG_STATE_HOME: dirname(world.state), NODE_OPTIONS: `--require ${report}` });
    const runs = Array.from({ length: 3 }, () =>
      spawnSync(process.execPath, words, { cwd: world.project, env, encoding: "utf8" }),
    );
    const figures = runs.map(({ stderr }) => /used (\d+) (\d+)/.exec(stderr));
    const ms = Math.min(...figures.map((found) => Number(found?.[2])));
    return {
      ms,
      megabytes: Math.min(...figures.map((found) => Number(found?.[1]))) / 1024,
      stdout: runs[0]?.stdout ?? "",
    };
  };
  const bare = used(["-e", "0"]);
  const status = used([product.plugin.cli, "status", "--json"]);
  expect(JSON.parse(status.stdout).runs).toMatchObject([{ id: RUN, resumable: true }]);
  // Beside others a bare node may take longer than a quiet machine's whole allowance.
  expect(status.ms).toBeLessThan(300 + 3 * bare.ms);
  expect(status.megabytes).toBeLessThan(Math.max(100, 2 * bare.megabytes));
});
