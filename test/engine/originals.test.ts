/** What a command knows of a foreign run, what it adopts and what it hashes are the same bytes, read once. */
import { cpSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Engine } from "../../scripts/engine/context.ts";
import { planResume } from "../../scripts/engine/plan-resume.ts";
import { resume } from "../../scripts/engine/resume.ts";
import { plainResume } from "../../scripts/engine/start.ts";
import { type FileSystem, realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { ledgerLines } from "../support/adopted-world.ts";
import { type EngineWorld, engineWorld } from "../support/engine-world.ts";
import { expectedOf, worldsFolder } from "../support/kimi-atlas.ts";

const world = "graph-003-nodes";

interface Graph extends EngineWorld {
  readonly run: string;
  readonly plan: string;
}

/** A graph run of the original in a repository of its own. */
function graphRun(): Graph {
  const made = engineWorld();
  cpSync(join(worldsFolder, world, ".atlas"), made.atlas, { recursive: true });
  const run = join(made.atlas, "sess-g");
  return { ...made, run, plan: join(run, "plan.dag.json") };
}

/** An engine that tells when `path` was opened, and when it was closed again. */
function watching(engine: Engine, path: string, told: { opened?: () => void; closed?: () => void }): Engine {
  const open = new Set<number>();
  const fs: FileSystem = {
    ...realFileSystem,
    openSync: ((...args: Parameters<FileSystem["openSync"]>) => {
      const fd = realFileSystem.openSync(...args);
      if (args[0] === path) {
        open.add(fd);
        told.opened?.();
      }
      return fd;
    }) as FileSystem["openSync"],
    closeSync: (fd) => {
      realFileSystem.closeSync(fd);
      if (open.delete(fd)) told.closed?.();
    },
  };
  return { ...engine, fs };
}

const adoptedEvent = (run: string) =>
  ledgerLines(join(run, "adopted"))
    .flatMap((line) => line.events)
    .find((event: { readonly type: string }) => event.type === "graph-adopted");

test("a resume reads a foreign plan once, whether it adopts it or has adopted it before", async () => {
  const { engine, plan } = graphRun();
  for (const did of ["adopted", "reattached epoch 1"]) {
    let count = 0;
    const told = await resume(watching(engine, plan, { opened: () => (count += 1) }), plainResume);
    expect(told).toMatchObject({ ok: true, value: { run: { did: expect.arrayContaining([did]) } } });
    expect(count).toBe(1);
  }
});

test("what is adopted is what was hashed: a plan that changes while it is adopted is noticed by the next command", async () => {
  const { engine, run, plan } = graphRun();
  const before = readFileSync(plan, "utf8");
  const after = before.replace(/"gas_remaining": (\d)/, '"gas_remaining": 1$1');
  expect(after).not.toBe(before);
  const told = await resume(watching(engine, plan, { closed: () => writeFileSync(plan, after) }), plainResume);
  expect(told).toMatchObject({ ok: true, value: { run: { did: expect.arrayContaining(["adopted"]) } } });
  const { dag } = adoptedEvent(run);
  const artifact = readFileSync(join(run, "adopted", "artifacts", `dag.0.${dag.slice(0, 12)}.json`));
  expect(sha256(artifact)).toBe(dag);
  expect(JSON.parse(artifact.toString("utf8"))).toEqual(expectedOf[world]?.dag_after);
  expect(await resume(engine, plainResume)).toMatchObject({ ok: false, error: { code: "adopt.diverged" } });
});

test("one byte changed in an adopted plan is noticed, though its size and its times are what they were", async () => {
  const { engine, plan } = graphRun();
  await resume(engine, plainResume);
  const { atime, mtime } = statSync(plan);
  const bytes = readFileSync(plan);
  const at = bytes.indexOf('"deps"') + 1;
  bytes[at] = (bytes[at] as number) + 1;
  writeFileSync(plan, bytes);
  utimesSync(plan, atime, mtime);
  expect(await resume(engine, plainResume)).toMatchObject({ ok: false, error: { code: "adopt.diverged" } });
  expect(planResume(engine, plainResume)).toMatchObject({
    ok: true,
    value: { plan: expect.arrayContaining([expect.objectContaining({ act: "ask", what: "readopt" })]) },
  });
});
