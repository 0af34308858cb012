/** Real repositories for the tests of git and trees. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { type FileSystem, realFileSystem } from "../../scripts/platform/fs.ts";
import { type Git, systemGit } from "../../scripts/platform/git.ts";
import { openSnapshots, type Snapshots } from "../../scripts/platform/snapshot.ts";
import { tempFolder } from "../support/temp.ts";

export const fs = realFileSystem;
export const git: Git = systemGit(process.env);

/** The user's own git, with nothing switched off. */
export function sh(cwd: string, ...args: string[]): string {
  return execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd();
}

export function write(root: string, path: string, content: string | Buffer, mode?: number): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  if (mode !== undefined) chmodSync(join(root, path), mode);
}

export interface World {
  readonly root: string;
  readonly commonDir: string;
  readonly runDir: string;
  readonly snapshots: Snapshots;
  /** `<run>/worktree/e1` */
  readonly path: string;
}

/** A repository with one commit (none when `files` is null), and a run folder in its `.atlas`. */
export function world(
  files: Readonly<Record<string, string | Buffer>> | null = { "a.txt": "a\n", "d/b.txt": "b\n" },
  name?: string,
): World {
  const root = tempFolder(name);
  sh(root, "init", "-q");
  if (files !== null) {
    for (const [path, content] of Object.entries(files)) write(root, path, content);
    sh(root, "add", "-A");
    sh(root, "commit", "-qm", "one");
  }
  return worldAt(root, join(root, ".git"));
}

export function worldAt(root: string, commonDir: string): World {
  const runDir = join(root, ".atlas", "run-1");
  mkdirSync(runDir, { recursive: true });
  writeFileSync(join(root, ".atlas", ".gitignore"), "*\n");
  return {
    root,
    commonDir,
    runDir,
    snapshots: openSnapshots(git, fs, runDir, commonDir),
    path: join(runDir, "worktree", "e1"),
  };
}

/** Everything in a folder but `.git` and `.atlas`: path (as latin1 of its bytes) → mode and bytes. */
export function contents(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (folder: Buffer, prefix: Buffer): void => {
    for (const name of readdirSync(folder, { encoding: "buffer" })) {
      if (prefix.length === 0 && [".git", ".atlas"].includes(name.toString("latin1"))) continue;
      const path = Buffer.concat([folder, Buffer.from("/"), name]);
      const inside = Buffer.concat([prefix, name]);
      const stat = lstatSync(path);
      const key = inside.toString("latin1");
      if (stat.isDirectory()) walk(path, Buffer.concat([inside, Buffer.from("/")]));
      else if (stat.isSymbolicLink())
        found[key] = `link ${readlinkSync(path, { encoding: "buffer" }).toString("latin1")}`;
      else found[key] = `${(stat.mode & 0o100) !== 0 ? "x" : "-"} ${readFileSync(path).toString("latin1")}`;
    }
  };
  walk(Buffer.from(root), Buffer.alloc(0));
  return found;
}

/** Names no quoting survives by luck. */
export const hostileNames = [
  "with space",
  'quo"te',
  "do$llar`x`",
  "new\nline",
  "tab\there",
  "ünïcödé",
  "-dash",
  ":(top)",
  "*",
  "back\\slash",
  "!bang",
  "#hash",
];

export function writeHostile(root: string): void {
  for (const name of hostileNames) write(root, join("names", name), `${name}\n`);
  write(root, "names/latin1", "x");
  writeFileSync(
    Buffer.concat([Buffer.from(`${root}/names/bad-`), Buffer.from([0xff, 0xfe]), Buffer.from("-end")]),
    "raw bytes\n",
  );
  write(root, "bin/run", "#!/bin/sh\n", 0o755);
  symlinkSync("../a.txt", join(root, "bin", "link"));
  symlinkSync("nowhere", join(root, "dangling"));
  write(root, "crlf.txt", "one\r\ntwo\r\n");
  write(root, "mixed.bin", Buffer.from([0, 13, 10, 255, 10, 13]));
}

/**
 * A git and a file system that stop before their `k`-th call that may change something, and stay stopped: what a
 * SIGKILL between two effects leaves.
 */
export function stoppingBefore(k: number): { readonly git: Git; readonly fs: FileSystem } {
  let calls = 0;
  const counted = <A extends unknown[], R>(call: (...args: A) => R) => {
    return (...args: A): R => {
      calls += 1;
      if (calls >= k) throw new Error("killed");
      return call(...args);
    };
  };
  const changing = ["writeSync", "renameSync", "unlinkSync", "mkdirSync", "rmdirSync", "linkSync"] as const;
  const stopping = Object.fromEntries(
    changing.map((name) => [name, counted(fs[name] as (...args: unknown[]) => unknown)]),
  );
  return { git: { run: counted(git.run) }, fs: { ...fs, ...stopping } as FileSystem };
}

/** Configures every door through which a repository can run code; each leaves a line in the returned file. */
export function booby(root: string, commonDir: string): string {
  const witness = join(root, "..", `witness-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const trap = join(commonDir, "trap.sh");
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> '${witness}'\ncat\n`, { mode: 0o755 });
  const set = (key: string, value: string) => sh(root, "config", key, value);
  set("filter.evil.clean", trap);
  set("filter.evil.smudge", trap);
  set("filter.evil.required", "true");
  set("filter.longrun.process", trap);
  set("filter.longrun.required", "true");
  set("core.fsmonitor", trap);
  set("diff.evil.textconv", trap);
  set("diff.evil.command", trap);
  set("diff.external", trap);
  set("core.editor", trap);
  set("core.pager", trap);
  set("commit.gpgSign", "true");
  set("gpg.program", trap);
  set("core.autocrlf", "true");
  set("alias.ls-files", `!${trap}`);
  set("alias.atlas", `!${trap}`);
  for (const hook of [
    "post-checkout",
    "pre-commit",
    "post-commit",
    "reference-transaction",
    "post-index-change",
    "post-rewrite",
  ]) {
    write(commonDir, `hooks/${hook}`, `#!/bin/sh\necho ${hook} >> '${witness}'\n`, 0o755);
  }
  write(
    root,
    ".gitattributes",
    "*.txt filter=evil diff=evil text eol=crlf\n*.bin filter=longrun\n*.u16 working-tree-encoding=UTF-16 text\n*.id ident\n",
  );
  return witness;
}
