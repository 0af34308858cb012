/**
 * Writes the ledgers of this release: `npx tsx test/golden/make-golden.ts 0.1`. Run once a release, before it is
 * tagged; what is released is never made again, because real runs of that release lie on real disks.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../support/run-cli.ts";
import { babbling, coder, mending, scout, wrongSum } from "../support/scripted-agents.ts";
import { builtPlugin, makeWorld, type Plugin, request, type Script, scripted, sit } from "../support/scripted-run.ts";
import { factsOf, readGolden } from "./golden.ts";

/** Birth records absolute paths; these say nothing of anybody's machine. */
const place = "/tmp/atlas-golden";

interface Scene {
  readonly headless: boolean;
  readonly script: Script;
  /** The slot at whose hand-out the run is left lying; null: it goes to its end. */
  readonly until: string | null;
}

const scenes: Readonly<Record<string, Scene>> = {
  // One refinement, because the first change does not add.
  finished: { headless: true, script: { agents: { coder: [coder("src/add.js", wrongSum), mending] } }, until: null },
  unfinished: { headless: false, script: { hooks: "claude", agents: { scout: [babbling, scout] } }, until: "coder" },
};

async function make(version: string): Promise<void> {
  const plugin = await builtPlugin();
  rmSync(place, { recursive: true, force: true });
  try {
    for (const [name, scene] of Object.entries(scenes)) await play(plugin, name, scene, join(folderOf(version), name));
  } finally {
    plugin.remove();
    rmSync(place, { recursive: true, force: true });
  }
}

function folderOf(version: string): string {
  return join(repositoryRoot, "test", "golden", version);
}

async function play(plugin: Plugin, name: string, scene: Scene, to: string): Promise<void> {
  const folder = join(place, name);
  mkdirSync(join(folder, "home"), { recursive: true });
  const world = makeWorld(plugin, folder);
  writeFileSync(join(folder, "packet.json"), JSON.stringify(request));
  const session = sit(world);
  const form = scene.headless ? ["--headless"] : [];
  const begun = await session.run("start", "change", "--packet", join(folder, "packet.json"), ...form);
  await scripted(session, scene.script).go(
    begun,
    (next) => next.do === "dispatch" && next.agents.some((agent) => agent.slot === scene.until),
  );
  const atlas = join(world.project, ".atlas");
  const id = readdirSync(atlas).find((entry) => !entry.startsWith("."));
  if (id === undefined) throw new Error(`no run of ${name}`);
  mkdirSync(to, { recursive: true });
  for (const file of ["log.jsonl", "snapshot.json", "state.json"]) copyFileSync(join(atlas, id, file), join(to, file));
  writeFileSync(join(to, "expected.json"), `${JSON.stringify(factsOf(readGolden(to)), null, 2)}\n`);
}

const [, , version = ""] = process.argv;
if (!/^\d+\.\d+$/.test(version)) throw new Error("which release? for example 0.1");
if (spawnSync("git", ["--version"]).status !== 0) throw new Error("no git");
void make(version);
