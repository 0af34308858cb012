import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { agentOf, handedOut, idOf, leaveResult, livingHost, refusal, seat, shipped } from "../support/replay.ts";
import { scout } from "../support/scripted-agents.ts";
import { logBytes, sit, typeWords } from "../support/scripted-run.ts";

const product = shipped();
const hour = 3_600_000;

test("C-32: no clock frees a run or holds it; an owner that slept through a takeover is refused at its next word, and told", async () => {
  const world = product.world();
  const preload = (name: string, ms: number) => {
    const path = join(dirname(world.project), `${name}.cjs`);
    writeFileSync(path, `const now = Date.now; Date.now = () => now() + ${ms};\n`);
    return { NODE_OPTIONS: `--require ${path}` };
  };
  const a = await seat(world, 1, { env: preload("behind", -2 * hour) });
  const told = await handedOut(a.session, "scout");
  const b = await seat(world, 2);
  for (const ms of [-26 * hour, 72 * hour]) {
    const shifted = sit(world, { host: b.host, env: preload(`shifted${ms}`, ms) });
    expect(refusal(await shifted.run("resume", "--run", idOf(told)))).toEqual([3, "run.owned"]);
  }

  process.kill(a.host.pid, "SIGSTOP");
  const asleep = await b.session.run("resume", "--run", idOf(told), "--take-over");
  expect(refusal(asleep)).toEqual([3, "gate.unattested"]);
  await typeWords(b.session, "claude", asleep.refused.fix);
  const taken = await b.session.run("resume", "--run", idOf(told), "--take-over");
  expect(taken.epoch, taken.stdout).toBe(2);
  process.kill(a.host.pid, "SIGCONT");
  leaveResult(agentOf(told), scout);
  const before = logBytes(world);
  const fenced = await a.session.type(agentOf(told).then);
  expect(refusal(fenced)).toEqual([3, "claim.stale"]);
  expect(fenced.refused.reason).toContain("nothing was changed");
  expect(logBytes(world)).toBe(before);

  // Dead, it frees the run whatever the clock says, backwards too.
  await b.host.kill();
  const late = sit(world, { host: livingHost(), env: preload("back", -48 * hour) });
  expect((await late.run("resume")).epoch).toBe(3);
});
