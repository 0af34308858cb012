/** A `git` that is found first: it counts its calls and kills who called it, before or after the real one has run. */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "../support/scripted-run.ts";

export interface GitCall {
  readonly when: "before" | "after";
  readonly at: number;
}

const script = (real: string): string => `#!/bin/sh
n=$(($(cat "$CRASH_GIT_COUNT") + 1))
echo "$n" > "$CRASH_GIT_COUNT"
[ "$n" = "$CRASH_GIT_AT" ] && [ "$CRASH_GIT_WHEN" = before ] && kill -9 "$PPID" && exit 1
'${real}' "$@"
code=$?
[ "$n" = "$CRASH_GIT_AT" ] && kill -9 "$PPID"
exit "$code"
`;

/** The environment in which git's caller dies at that call; `at` 0: never. The count starts anew. */
export function gitKillsAt(base: string, { when, at }: GitCall): Env {
  const folder = join(base, "shim");
  const real = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "git"), script(real), { mode: 0o755 });
  const count = join(base, "git-calls");
  writeFileSync(count, "0\n");
  return {
    PATH: `${folder}:${process.env.PATH}`,
    CRASH_GIT_COUNT: count,
    CRASH_GIT_AT: String(at),
    CRASH_GIT_WHEN: when,
  };
}
