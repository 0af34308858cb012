/** What a system tells of a process, and of the place it runs in. */
import type { ProcessIdentity } from "../core/owner.ts";

export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  /** Empty: the system did not tell, and so not whether the process is there either. */
  readonly start: string;
  /** Base name of the program. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly dead: boolean;
}

export interface Processes {
  /** Facts about a pid; null when there is no such process. A zombie is `dead`. */
  look(pid: number): ProcessFacts | null;
  /** Machine, boot, namespace and uid of this process; pid and start are null. */
  readonly place: ProcessIdentity;
}

/** A process of which only the pid is known, if there is one: it counts as alive. */
export function untold(pid: number): ProcessFacts {
  return { pid, parent: 0, start: "", name: "", argv: [], dead: false };
}
