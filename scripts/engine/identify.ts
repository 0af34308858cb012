/** Who is asking: the host's process and the session, as the rules in docs/architecture.md (Ownership) say. */
import { isSessionId } from "../core/ids.ts";
import type { Owner } from "../core/owner.ts";
import { UsageError } from "../core/result.ts";
import type { FileSystem } from "../platform/fs.ts";
import { hostProcess, type Processes } from "../platform/processes.ts";
import { readSession, sessionsOfProcess, stateFolder } from "../platform/sessions.ts";

const madeOfProcess = "proc-";

/** True for a session that stands for "this process, session unknown". */
export function isMadeOfProcess(session: string): boolean {
  return session.startsWith(madeOfProcess);
}

export interface Asking {
  readonly fs: FileSystem;
  readonly processes: Processes;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `--session` */
  readonly named: string | null;
}

/**
 * The session is, in this order: the one living record of the host's process; what the environment says, if the host's
 * process is known; `--session`, which must be among that process's records if it has any; else one made of the process.
 * Throws `usage.session` for a malformed `--session`.
 */
export function identify(asking: Asking): Owner {
  const { fs, processes, environment, named } = asking;
  if (named !== null && !isSessionId(named)) {
    throw new UsageError("--session is not a session id", "atlas resume", "usage.session");
  }
  const host = hostProcess(processes, process.pid, environment.CLAUDE_PID);
  const state = stateFolder(environment);
  const records = host === null ? [] : sessionsOfProcess(fs, state, host.pid, host.start);
  const fromEnvironment = environment.CLAUDE_CODE_SESSION_ID ?? environment.ATLAS_SESSION_ID;
  let session: string | null = null;
  if (records.length === 1) session = records[0]!.session;
  else if (host !== null && environment.CLAUDE_PID === String(host.pid) && isSessionId(fromEnvironment)) {
    session = fromEnvironment;
  } else if (named !== null && (records.length === 0 || records.some((record) => record.session === named))) {
    session = named;
  } else if (host !== null) session = `${madeOfProcess}${host.pid}-${host.start.replace(/[^A-Za-z0-9]/g, "-")}`;
  const record = session === null ? null : readSession(fs, state, session);
  return {
    ...processes.place,
    pid: host?.pid ?? null,
    start: host?.start ?? null,
    host: record?.host ?? hostName(environment),
    session,
  };
}

function hostName(environment: Asking["environment"]): string {
  return environment.CLAUDECODE === undefined ? "unknown" : "claude";
}
