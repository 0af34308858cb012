/** A file system whose n-th call fails as a disk, a limit or a signal makes it fail. */
import type { FileSystem } from "../../scripts/platform/fs.ts";

export interface Call {
  readonly name: keyof FileSystem;
  /** The path of the call, or the path its descriptor was opened with. */
  readonly path: string;
  /** From 0, over all calls of this file system. */
  readonly nth: number;
}

export type Fault =
  /** The call does nothing and fails. */
  | { readonly errno: string }
  /** A write takes only so many bytes. */
  | { readonly shortBytes: number }
  /** A write takes so many bytes, then fails. */
  | { readonly errno: string; readonly afterBytes: number }
  /** The process is killed before the call (`after: false`) or right after it. */
  | { readonly killed: "before" | "after" };

/** What a killed process never catches: no code of ours runs behind it, so nothing else of the file system may. */
export class Killed extends Error {}

export interface FaultyFileSystem extends FileSystem {
  readonly calls: readonly Call[];
  readonly killed: boolean;
}

/** `faultAt` is asked before every call; null lets it through. */
export function faultyFileSystem(base: FileSystem, faultAt: (call: Call) => Fault | null): FaultyFileSystem {
  const calls: Call[] = [];
  const opened = new Map<number, string>();
  let killed = false;
  const door =
    (name: keyof FileSystem) =>
    (...args: unknown[]): unknown => {
      if (killed) throw new Killed();
      const path = typeof args[0] === "number" ? (opened.get(args[0]) ?? "") : String(args[0]);
      const call: Call = { name, path, nth: calls.length };
      calls.push(call);
      const fault = faultAt(call);
      if (fault !== null && "killed" in fault) {
        killed = true;
        if (fault.killed === "after") perform(base, name, args);
        throw new Killed();
      }
      if (fault !== null && name === "writeSync") return shortWrite(base, args as WriteArguments, fault, path);
      if (fault !== null && "errno" in fault) throw systemError(fault.errno, name, path);
      const value = perform(base, name, args);
      if (name === "openSync") opened.set(value as number, path);
      return value;
    };
  const doors = Object.fromEntries(Object.keys(base).map((name) => [name, door(name as keyof FileSystem)]));
  return {
    ...(doors as unknown as FileSystem),
    calls,
    get killed() {
      return killed;
    },
  };
}

type WriteArguments = Parameters<FileSystem["writeSync"]>;

function perform(base: FileSystem, name: keyof FileSystem, args: readonly unknown[]): unknown {
  return (base[name] as (...all: readonly unknown[]) => unknown)(...args);
}

function shortWrite(base: FileSystem, args: WriteArguments, fault: Fault, path: string): number {
  const [fd, buffer, offset, length, position] = args;
  const bytes = "shortBytes" in fault ? fault.shortBytes : "afterBytes" in fault ? fault.afterBytes : 0;
  const count = Math.min(bytes, length);
  const written = count === 0 ? 0 : base.writeSync(fd, buffer, offset, count, position);
  if ("errno" in fault) throw systemError(fault.errno, "writeSync", path);
  return written;
}

/** As node throws it: the code, the call, and no word of ours. */
export function systemError(code: string, name: string, path: string): Error {
  const syscall = name.replace(/Sync$/, "");
  return Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, errno: -1, syscall, path });
}

/** Does `act` as a process that is killed in it: whatever it would have said, nobody hears it. */
export function dyingIn(fs: FaultyFileSystem, act: () => unknown): void {
  try {
    act();
  } catch {
    // Code of ours that catches the kill can do nothing any more: every further call is refused.
  }
  if (!fs.killed) throw new Error("it was not killed");
}

/** Fails the `count` first calls that `isMeant` picks. */
export function failing(
  base: FileSystem,
  isMeant: (call: Call) => boolean,
  fault: Fault,
  count = Number.POSITIVE_INFINITY,
): FaultyFileSystem {
  let left = count;
  return faultyFileSystem(base, (call) => {
    if (left <= 0 || !isMeant(call)) return null;
    left -= 1;
    return fault;
  });
}
