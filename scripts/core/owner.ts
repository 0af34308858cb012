/** Who owns a run, compared without a clock. */

/** The identity of one process; any part may be unknown. */
export interface ProcessIdentity {
  /** sha-256 of the machine id; null where there is none. */
  readonly machine: string | null;
  readonly boot: string | null;
  /** pid namespace; null where the system has none. */
  readonly namespace: string | null;
  readonly uid: number | null;
  readonly pid: number | null;
  /** Start time in the system's own unit, as text: only equality counts. */
  readonly start: string | null;
}

export interface Owner extends ProcessIdentity {
  readonly host: string;
  readonly session: string | null;
}

/** What the asking process knows of itself and of the process `owner.pid` names. */
export interface Sighting {
  readonly here: ProcessIdentity;
  /** Start time of the process that now has `owner.pid` here; null: none, or it is a zombie. Empty: not told. */
  readonly startOfPid: string | null;
  /** The caller guarantees one container a folder (`ATLAS_EXCLUSIVE=1`). */
  readonly exclusive: boolean;
}

export type Liveness = "ourselves" | "gone" | "alive";

/**
 * `gone` only on proof: same machine, and another boot, or no such process. Whatever cannot be proved counts as
 * alive and needs the human's word.
 */
export function liveness(owner: Owner, sighting: Sighting): Liveness {
  const { here } = sighting;
  if (isSameProcess(owner, here)) return "ourselves";
  if (owner.machine === null || here.machine === null || owner.pid === null)
    return sighting.exclusive ? "gone" : "alive";
  if (owner.machine !== here.machine) return "alive";
  if (owner.boot !== null && here.boot !== null && owner.boot !== here.boot) return "gone";
  if (owner.namespace !== here.namespace) return sighting.exclusive ? "gone" : "alive";
  if (owner.uid !== here.uid) return "alive";
  return couldLive(owner, sighting.startOfPid) ? "alive" : "gone";
}

/** Whether a process of this place may still be there, by what is now at its pid. A start nobody told proves nothing. */
export function couldLive(meant: Pick<ProcessIdentity, "start">, startOfPid: string | null): boolean {
  if (startOfPid === null) return false;
  return startOfPid === "" || meant.start === null || meant.start === "" || startOfPid === meant.start;
}

export function isSameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return (
    a.pid !== null &&
    a.start !== null &&
    a.start !== "" &&
    a.pid === b.pid &&
    a.start === b.start &&
    a.machine === b.machine &&
    a.boot === b.boot &&
    a.namespace === b.namespace &&
    a.uid === b.uid
  );
}
