import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemGit } from "../../scripts/platform/git.ts";
import { requirePtrace } from "../crash/strace.ts";
import { tempFolder } from "../support/temp.ts";
import { world, write } from "./git-world.ts";

/** Paths git called fsync for, and whether it only wrote out. */
function syncsOf(
  args: readonly string[],
  root: string,
  input = "",
): { readonly synced: number; readonly wroteOut: number } {
  const bin = tempFolder();
  const trace = join(bin, "trace");
  const real = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).stdout.trim();
  const words = `strace -f -qq -o ${trace} -e trace=fsync,fdatasync,sync_file_range ${real} "$@"`;
  write(bin, "git", `#!/bin/sh\n[ "$1" = --version ] && exec ${real} --version\nexec ${words}\n`, 0o755);
  const config = join(bin, "config");
  writeFileSync(config, "[core]\n\tfsyncMethod = writeout-only\n\tfsync = none\n");
  const before = process.env.GIT_CONFIG_GLOBAL;
  const git = systemGit({ ...process.env, PATH: `${bin}:${process.env.PATH}`, HOME: bin, XDG_CONFIG_HOME: bin });
  writeFileSync(join(bin, ".gitconfig"), readFileSync(config));
  const done = git.run(args, { cwd: root, input });
  process.env.GIT_CONFIG_GLOBAL = before;
  expect(done.code, done.stderr).toBe(0);
  const lines = readFileSync(trace, "utf8").split("\n");
  const count = (pattern: RegExp): number => lines.filter((line) => pattern.test(line)).length;
  return { synced: count(/\bf(data)?sync\(/), wroteOut: count(/\bsync_file_range\(/) };
}

test("what git stores for us is synced, whatever the user's own settings trade for speed", () => {
  requirePtrace();
  const { root } = world();
  expect(syncsOf(["hash-object", "-w", "--stdin"], root, "a new blob\n")).toMatchObject({ synced: 1, wroteOut: 0 });
  const ref = syncsOf(["update-ref", "--no-deref", "refs/atlas/x/e1/kept/y/worktree", "HEAD"], root);
  expect(ref).toMatchObject({ synced: 1, wroteOut: 0 });
});
