/**
 * SIGKILL at one system call of a process, by strace. The kill comes before the call happens, so killing at the k-th
 * call leaves what k - 1 calls did. Only the main thread is followed: the product's own calls are synchronous there.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Of a call and its kin, node uses one or the other by platform and version; `?`: not every machine has it. */
const family = (...names: readonly string[]): readonly string[] => names.map((name) => `?${name}`);

/** Every call that changes what is on disk, or may. */
export const changingCalls = [
  ...family("openat", "open", "openat2", "creat"),
  ...family("write", "writev", "pwrite64", "pwritev", "pwritev2", "sendfile", "copy_file_range"),
  ...family("fsync", "fdatasync", "sync_file_range", "syncfs", "ftruncate", "truncate", "fallocate"),
  ...family("rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat"),
  ...family("link", "linkat", "symlink", "symlinkat", "mknod", "mknodat"),
  ...family("chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "utime", "utimes", "utimensat"),
].join();

/** The k-th call of one name. */
export interface OwnCall {
  readonly call: string;
  readonly at: number;
}

/** Program and words to put before a command, so that it is killed there. */
export function killedAt({ call, at }: OwnCall): readonly string[] {
  return ["strace", "-qq", "-o", "/dev/null", ...injection({ call, at })];
}

export function injection({ call, at }: OwnCall): readonly string[] {
  return ["-e", `trace=${call}`, "-e", `inject=${call}:signal=SIGKILL:when=${at}`];
}

/** Words to put before a command, so that its calls are written to `path` and nothing is done to it. */
export function countedIn(path: string): readonly string[] {
  return ["strace", "-qq", "-o", path, "-e", `trace=${changingCalls}`];
}

/** How often each call was made, from a trace. */
export function countsOf(path: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const name = /^(\w+)\(/.exec(line)?.[1];
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

export function stracePath(): string {
  return spawnSync("sh", ["-c", "command -v strace"], { encoding: "utf8" }).stdout.trim();
}

/** Throws, saying what to do, where a process may not be traced. */
export function requirePtrace(): void {
  const killed = spawnSync(...asCall([...killedAt({ call: "openat", at: 1 }), "true"]), { encoding: "utf8" });
  if (killed.signal === "SIGKILL") return;
  const why = killed.error === undefined ? killed.stderr.trim() || `exit ${killed.status}` : killed.error.message;
  throw new Error(
    `Processes cannot be traced here, so nothing can be killed at its system calls: ${why}\n` +
      "Without strace: apt-get install strace. In a container: run it with --cap-add=SYS_PTRACE (and a seccomp " +
      "profile that lets ptrace through). Elsewhere: sysctl kernel.yama.ptrace_scope=0.",
  );
}

function asCall(words: readonly string[]): [string, readonly string[]] {
  return [words[0] as string, words.slice(1)];
}
