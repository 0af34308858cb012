import type { Moment } from "../core/kind.ts";
import type { Owner, ProcessIdentity, Sighting } from "../core/owner.ts";
import type { FileSystem } from "../platform/fs.ts";
import type { Git } from "../platform/git.ts";
import { livingStart, type Processes } from "../platform/processes.ts";

/** Everything a command may touch, captured once and handed down as a value. */
export interface Engine {
  readonly fs: FileSystem;
  readonly git: Git;
  readonly processes: Processes;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute, links resolved. */
  readonly cwd: string;
  readonly moment: Moment;
  readonly verb: string;
  /** The host's process and session: who claims. */
  readonly self: Owner;
  /** A pid given by a test or a guarantee that no other container shares the folder. */
  readonly exclusive: boolean;
  /** Folder that holds dist/, references/ and hooks/. */
  readonly pluginRoot: string;
}

/**
 * Seconds a command may block before it answers again. A host's shell call does not last longer: Kimi Code sends it to
 * the background after a minute and tells the model not to wait, Claude Code ends it after two.
 */
export function watchSeconds(engine: Engine): number {
  return engine.self.host === "kimi" ? 50 : 100;
}

/** What this process can say about an owner it did not start. */
export function sight(engine: Engine, owner: ProcessIdentity): Sighting {
  const { pid: selfPid, start, machine, boot, namespace, uid } = engine.self;
  return {
    here: { pid: selfPid, start, machine, boot, namespace, uid },
    startOfPid: livingStart(engine.processes, owner.pid),
    exclusive: engine.exclusive,
  };
}
