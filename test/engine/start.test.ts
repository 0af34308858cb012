import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startHost } from "../support/host-process.ts";
import {
  begin,
  builtPlugin,
  eventsOf,
  makeWorld,
  type Plugin,
  request,
  scripted,
  sit,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

test("six who start the same packet at once open one run: one owns it, five are told who", async () => {
  const world = makeWorld(plugin, tempFolder());
  const hosts = Array.from({ length: 6 }, () => startHost());
  try {
    const told = await Promise.all(hosts.map((host) => begin(sit(world, { host }), request, "--headless")));
    expect(readdirSync(`${world.project}/.atlas`).filter((name) => !name.startsWith("."))).toHaveLength(1);
    expect(told.filter((one) => one.code === 0)).toHaveLength(1);
    const refused = told.filter((one) => one.code === 3);
    expect(refused.map((one) => one.refused.code)).toEqual(Array.from({ length: 5 }, () => "run.owned"));
    expect(eventsOf(world).filter((event) => event.type === "claimed")).toHaveLength(1);
  } finally {
    await Promise.all(hosts.map((host) => host.kill()));
  }
});

test("a start whose maker died before the run was born is opened by the next under the same id", async () => {
  const world = makeWorld(plugin, tempFolder());
  const session = sit(world);
  const first = await begin(session, request, "--headless");
  const id = (first.json.run as { id: string }).id;
  await scripted(session).go(first);
  // Finished: the same packet is a new run. Its id is assigned, and the maker dies before the folder appears.
  const second = await begin(session, request, "--headless");
  const next = (second.json.run as { id: string }).id;
  expect(next).not.toBe(id);
  const { rmSync } = await import("node:fs");
  rmSync(`${world.project}/.atlas/${next}`, { recursive: true });
  const third = await begin(session, request, "--headless");
  expect((third.json.run as { id: string }).id).toBe(next);
});
