import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Owner } from "../../scripts/core/owner.ts";
import { goneOwner, ownerOf, writeOwnRun } from "../support/ledger.ts";
import { shipped } from "../support/replay.ts";
import { sit } from "../support/scripted-run.ts";

const product = shipped();

test("C-31: a run is free on proof that its owner is gone, whoever has its pid now; what cannot be proved needs the human", async () => {
  const world = product.world();
  const atlas = join(world.project, ".atlas");
  const sleeper = spawn("sleep", ["60"]);
  onTestFinished(() => void sleeper.kill("SIGKILL"));
  const reused = ownerOf(sleeper.pid as number, "s");
  const gone = goneOwner();
  const owners: readonly (readonly [string, Owner, "gone" | "alive"])[] = [
    ["its pid is another process now", { ...reused, start: "1" }, "gone"],
    ["nobody has its pid", gone, "gone"],
    ["the machine was started anew", { ...reused, boot: "another-boot" }, "gone"],
    ["it lives", reused, "alive"],
    ["pid 1 of a container", { ...reused, pid: 1, namespace: "pid:[1]" }, "alive"],
    ["another machine", { ...gone, machine: "f".repeat(64) }, "alive"],
    ["a machine nobody can tell", { ...gone, machine: null }, "alive"],
    ["a process nobody can tell", { ...gone, pid: null, start: null }, "alive"],
    ["another user", { ...gone, uid: 12_345 }, "alive"],
  ];
  owners.forEach(([, owner], n) => {
    writeOwnRun(atlas, { id: `20261130t190000z-00000${n}`, owner });
  });
  // What a lock file would be: there is none to be torn, empty or of another host.
  for (const [name, text] of Object.entries({ ".lock": "", lock: '{"pid":', "log.jsonl.lock": "elsewhere 1" }))
    writeFileSync(join(atlas, "20261130t190000z-000001", name), text);

  const { runs } = (await sit(world).run("status")).json as {
    runs: { id: string; resumable: boolean; owner: { standing: string } }[];
  };
  const found = owners.map(([name], n) => {
    const run = runs.find(({ id }) => id.endsWith(`00000${n}`));
    return [name, run?.owner.standing, run?.resumable];
  });
  expect(found).toEqual(owners.map(([name, , standing]) => [name, standing, standing === "gone"]));
  const foreign = await sit(world).run("resume", "--run", "20261130t190000z-000005");
  expect(foreign.refused).toMatchObject({ code: "run.owned", fix: expect.stringMatching(/--take-over$/) });
});
