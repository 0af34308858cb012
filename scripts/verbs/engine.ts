import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import type { EpochMs } from "../core/ids.ts";
import { UsageError } from "../core/result.ts";
import type { Engine } from "../engine/context.ts";
import { identify } from "../engine/identify.ts";
import { realFileSystem } from "../platform/fs.ts";
import { systemGit } from "../platform/git.ts";
import { systemProcesses } from "../platform/processes.ts";
import type { Arguments } from "./arguments.ts";

/** Everything a verb may touch, captured once. Throws `usage.cwd` for a folder that is not there. */
export function openEngine(given: Arguments): Engine {
  const fs = realFileSystem;
  const environment = process.env;
  const processes = systemProcesses();
  let cwd: string;
  try {
    cwd = fs.realpathSync(given.text("cwd") ?? process.cwd());
    if (!fs.statSync(cwd).isDirectory()) throw new Error("not a folder");
  } catch {
    throw new UsageError("--cwd is no folder that can be entered", "atlas status", "usage.cwd");
  }
  const moment = { now: Date.now() as EpochMs, fresh: () => randomBytes(4).toString("hex") };
  return {
    fs,
    git: systemGit(environment),
    processes,
    environment,
    cwd,
    moment,
    verb: given.verb,
    self: identify({ fs, processes, environment, named: given.text("session") }),
    exclusive: environment.ATLAS_EXCLUSIVE === "1",
    pluginRoot: dirname(__dirname),
  };
}
