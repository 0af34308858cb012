import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeOwnRun } from "../support/ledger.ts";
import { hookCommands, shipped } from "../support/replay.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { sit } from "../support/scripted-run.ts";

const product = shipped();

test.each([
  ["claude", "claude-code"],
  ["kimi", "kimi-code"],
] as const)(
  "C-12 %s: an event that is none of ours, PreCompact too, gets an empty answer and exit 0",
  async (host, folder) => {
    const world = product.world();
    writeOwnRun(join(world.project, ".atlas"));
    const session = sit(world);
    const path = join(repositoryRoot, "test", "fixtures", "hook-stdin", folder);
    const payloads = readdirSync(path).map((name) => JSON.parse(readFileSync(join(path, name), "utf8")));
    const ours = hookCommands(host);
    const others = new Map(payloads.map((payload) => [payload.hook_event_name as string, payload]));
    for (const on of ours.keys()) others.delete(on);
    expect([...others.keys()]).toContain("PreCompact");
    for (const [on, payload] of [...others].slice(0, 3).concat([["PreCompact", others.get("PreCompact")]])) {
      const { code, stdout, stderr } = await session.hook(host, on, { ...payload, cwd: world.project });
      expect({ on, code, stdout, stderr }).toEqual({ on, code: 0, stdout: "", stderr: "" });
    }
  },
);
