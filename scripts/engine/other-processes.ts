/** Whether another process of ours lives on this machine: whoever could be writing what looks left over. */

import { readProcessTable } from "../platform/process-table.ts";
import type { Processes } from "../platform/processes.ts";

const ownScript = /(^|[\\/])(dist[\\/](atlas|verbs)\.cjs|bin[\\/]atlas|hooks[\\/]run)$/;

/**
 * True for any living process, other than ourselves and those that wait for us, that runs atlas. Null where the
 * system does not tell what its processes run. Says nothing of other machines and containers.
 */
export function othersLive(processes: Processes, self: number): boolean | null {
  if (process.platform !== "linux") return null;
  const ours = ancestorsOf(processes, self);
  for (const { pid, dead } of readProcessTable()) {
    if (dead || ours.has(pid)) continue;
    const facts = processes.look(pid);
    if (facts === null || facts.dead) continue;
    if (facts.argv.slice(0, 8).some((word) => ownScript.test(word))) return true;
  }
  return false;
}

/** The launcher that waits for us runs atlas too, and writes nothing. */
function ancestorsOf(processes: Processes, self: number): ReadonlySet<number> {
  const found = new Set<number>([self]);
  for (
    let pid = processes.look(self)?.parent ?? 0;
    pid > 1 && !found.has(pid);
    pid = processes.look(pid)?.parent ?? 0
  ) {
    found.add(pid);
  }
  return found;
}
