/** The engine as a verb opens it, in this process and with a moment of the test's own. */
import { randomBytes } from "node:crypto";
import { basename, dirname } from "node:path";
import type { EpochMs, RunId } from "../../scripts/core/ids.ts";
import type { Engine } from "../../scripts/engine/context.ts";
import type { RunFolder } from "../../scripts/engine/ledger.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { systemGit } from "../../scripts/platform/git.ts";
import { systemProcesses } from "../../scripts/platform/processes.ts";
import { ownerOf } from "./ledger.ts";
import { cliEnvironment } from "./run-cli.ts";
import type { World } from "./scripted-run.ts";

export function ownEngine(world: World, nowMs = Date.now()): Engine {
  const environment = cliEnvironment(world.env);
  const processes = systemProcesses();
  return {
    fs: realFileSystem,
    git: systemGit(environment),
    processes,
    environment,
    cwd: world.project,
    moment: { now: nowMs as EpochMs, fresh: () => randomBytes(4).toString("hex") },
    verb: "test",
    // The owner of what the command line does for a test is the test's own process.
    self: ownerOf(process.pid, null, "unknown"),
    exclusive: false,
    pluginRoot: world.plugin.root,
  };
}

/** A run of ours by the path of its folder. */
export function folderOf(path: string): RunFolder {
  const atlas = dirname(path);
  return { id: basename(path) as RunId, root: dirname(atlas), atlas, ledger: path, adopted: false };
}
