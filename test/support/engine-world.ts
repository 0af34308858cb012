/** An engine made in the test, in a repository of its own, and ledgers whose lines the test chooses. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EpochMs, RunId } from "../../scripts/core/ids.ts";
import type { Owner } from "../../scripts/core/owner.ts";
import type { Engine } from "../../scripts/engine/context.ts";
import type { RunFolder } from "../../scripts/engine/ledger.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { systemGit } from "../../scripts/platform/git.ts";
import { systemProcesses } from "../../scripts/platform/processes.ts";
import { claimedEvent, goneOwner, type LineSpec, ownerOf, RUN, sealedLog } from "./ledger.ts";
import { repositoryRoot } from "./run-cli.ts";
import { gitIn } from "./scripted-run.ts";
import { tempFolder } from "./temp.ts";

export interface EngineWorld {
  readonly project: string;
  readonly atlas: string;
  readonly commonDir: string;
  readonly state: string;
  readonly engine: Engine;
}

/** A repository with one commit, and an engine whose host is the test's own process. */
export function engineWorld(name?: string): EngineWorld {
  const folder = tempFolder(name);
  const project = join(folder, "project");
  const state = join(folder, "state");
  mkdirSync(join(project, ".atlas"), { recursive: true });
  mkdirSync(state);
  gitIn(project, "init", "-q", ".");
  writeFileSync(join(project, "a.txt"), "a\n");
  writeFileSync(join(project, ".gitignore"), "*.log\n");
  gitIn(project, "add", "-A");
  gitIn(project, "commit", "-qm", "one");
  writeFileSync(join(project, ".atlas", ".gitignore"), "*\n");
  return {
    project,
    atlas: join(project, ".atlas"),
    commonDir: join(project, ".git"),
    state: join(state, "atlas"),
    engine: engineAt(project, { ...process.env, HOME: folder, XDG_STATE_HOME: state }),
  };
}

export function engineAt(cwd: string, environment: Engine["environment"]): Engine {
  const processes = systemProcesses();
  return {
    fs: realFileSystem,
    git: systemGit(environment),
    processes,
    environment,
    cwd,
    moment: { now: Date.parse("2026-11-30T19:00:00Z") as EpochMs, fresh: () => randomBytes(4).toString("hex") },
    verb: "test",
    self: ownerOf(process.pid, "test-session"),
    exclusive: false,
    pluginRoot: repositoryRoot,
  };
}

export interface RunSpec {
  readonly id?: string;
  readonly adopted?: boolean;
  readonly owner?: Owner;
  /** After birth and claim, one line each. */
  readonly events?: LineSpec["events"];
  readonly ended?: boolean;
}

/** Writes a run of kind change and gives its folder as the engine names it. */
export function writeRun(world: EngineWorld, spec: RunSpec = {}): RunFolder {
  const id = (spec.id ?? RUN) as RunId;
  const adopted = spec.adopted === true;
  const home = join(world.atlas, id);
  const ledger = adopted ? join(home, "adopted") : home;
  const born = {
    type: "born",
    kind: "change",
    origin: adopted ? "kimi-atlas" : "atlas",
    form: "headless",
    digest: "d",
    root: world.project,
    top: null,
    commonDir: world.commonDir,
  };
  const lines: LineSpec[] = [born, claimedEvent(spec.owner ?? goneOwner()), ...(spec.events ?? [])].map((event) => ({
    events: [event],
  }));
  if (spec.ended === true) lines.push({ events: [{ type: "abandoned", grade: "typed" }] });
  mkdirSync(ledger, { recursive: true });
  writeFileSync(join(ledger, "log.jsonl"), sealedLog(id, lines));
  return { id, root: world.project, atlas: world.atlas, ledger, adopted };
}
