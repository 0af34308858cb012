/** How many agents may be at work at once: by number, and by the memory they are known to take. Pure. */

/** Agents of one root at work at a time. */
export const AGENTS_MAX = 3;
const agentMb = { reader: 700, coder: 1300 } as const;
/** The floor of what all of them may take together, and the ceiling of what must stay free, in MB. */
const sumMb = 4608;
const freeMb = 3072;

/** Memory of the machine, in MB: what could be had now, and all there is. */
export interface Room {
  readonly freeMb: number;
  readonly totalMb: number;
}

/**
 * Those of `wanted` (roles, in order) that go out beside `running`. One that does not fit is passed over. Where nothing
 * runs, the first goes whatever the memory: less progress than one at a time is none. `room` null: memory is not looked at.
 */
export function admitted(wanted: readonly string[], running: readonly string[], room: Room | null): readonly number[] {
  const taken: number[] = [];
  let sum = running.reduce((mb, role) => mb + megabytesOf(role), 0);
  let left = room === null ? Number.POSITIVE_INFINITY : room.freeMb;
  const sumMax = room === null ? Number.POSITIVE_INFINITY : Math.max(sumMb, 0.6 * room.totalMb);
  const floor = room === null ? 0 : Math.min(freeMb, 0.2 * room.totalMb);
  for (const [index, role] of wanted.entries()) {
    if (running.length + taken.length >= AGENTS_MAX) break;
    const mb = megabytesOf(role);
    if (sum + mb > sumMax || left - mb < floor) continue;
    taken.push(index);
    sum += mb;
    left -= mb;
  }
  return taken.length === 0 && running.length === 0 && wanted.length > 0 ? [0] : taken;
}

/** An unknown role counts as the dearest. */
function megabytesOf(role: string): number {
  return /-(scout|critic)$/.test(role) ? agentMb.reader : agentMb.coder;
}
