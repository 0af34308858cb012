/** Many processes that resume one run at the same moment: one owns it, and every other is told who does. */
import { cpSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startHost } from "../support/host-process.ts";
import {
  begin,
  builtPlugin,
  eventsOf,
  makeWorld,
  type Plugin,
  request,
  runFolder,
  scripted,
  sit,
  type Told,
  type World,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";
import { type Actor, allAtOnce, startActor } from "./actor.ts";

const actorsMax = 8;
const rounds = 200;
const spawnedRounds = 3;

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

const idOf = (told: Told) => (told.json.run as { id: string }).id;

/** A run whose scout is out and whose owner was killed; `again` puts it back to that. */
async function leftBehind(): Promise<{ readonly world: World; readonly id: string; readonly again: () => void }> {
  const folder = tempFolder();
  const world = makeWorld(plugin, folder);
  const host = startHost();
  const session = sit(world, { host });
  const told = await scripted(session).go(
    await begin(session, request, "--headless"),
    (next) => next.do === "dispatch",
  );
  await host.kill();
  const kept = join(folder, "kept");
  const run = runFolder(world);
  cpSync(run, kept, { recursive: true });
  const again = () => {
    rmSync(`${run}.old`, { recursive: true, force: true });
    renameSync(run, `${run}.old`);
    cpSync(kept, run, { recursive: true });
    rmSync(`${run}.old`, { recursive: true });
  };
  return { world, id: idOf(told), again };
}

/** One went on in the next epoch, the others know its process; its fold, and nobody else's, handed the scout out anew. */
function expectOneOwner(world: World, told: readonly Told[], pidOf: (at: number) => number, round: number): void {
  const winners = told.flatMap((one, at) => (one.code === 0 ? [at] : []));
  expect(winners, `round ${round}: ${told.map((one) => one.stdout).join("")}`).toHaveLength(1);
  const pid = pidOf(winners[0] as number);
  for (const loser of told.filter((one) => one.code !== 0)) {
    expect([loser.code, loser.refused.code]).toEqual([3, "run.owned"]);
    expect(loser.refused.reason).toContain(`process ${pid} `);
  }
  const events = eventsOf(world);
  const claims = events.filter((event) => event.type === "claimed");
  expect(claims.map(({ epoch }) => epoch)).toEqual([1, 2]);
  expect(claims[1]).toMatchObject({ owner: { pid } });
  expect(events.filter((event) => event.type === "leased").map(({ lease }) => lease)).toEqual([
    "scout#1@1",
    "scout#2@2",
  ]);
}

test(`of ${actorsMax} living processes that resume one run at once, ${rounds} times over, exactly one owns it and the others are told who`, {
  timeout: 180_000,
}, async () => {
  const { world, id, again } = await leftBehind();
  const actors: readonly Actor[] = Array.from({ length: actorsMax }, () => startActor(world));
  const winners = new Set<number>();
  try {
    for (let round = 0; round < rounds; round += 1) {
      again();
      const told = await allAtOnce(world, actors, () => ["resume", "--run", id]);
      expectOneOwner(world, told, (at) => (actors[at] as Actor).pid, round);
      winners.add(told.findIndex((one) => one.code === 0));
    }
  } finally {
    await Promise.all(actors.map((actor) => actor.kill()));
  }
  // Not always the same: it was a race.
  expect(winners.size).toBeGreaterThan(1);
});

test(`of ${actorsMax} command lines started at once by hosts of their own exactly one owns the run`, async () => {
  const { world, id, again } = await leftBehind();
  const hosts = Array.from({ length: actorsMax }, () => startHost());
  try {
    for (let round = 0; round < spawnedRounds; round += 1) {
      again();
      const told = await Promise.all(hosts.map((host) => sit(world, { host }).run("resume", "--run", id)));
      expectOneOwner(world, told, (at) => hosts[at]?.pid ?? 0, round);
    }
  } finally {
    await Promise.all(hosts.map((host) => host.kill()));
  }
});
