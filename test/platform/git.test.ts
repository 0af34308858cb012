import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EnvironmentFailure } from "../../scripts/core/result.ts";
import { gitVersion, isOlder, must, parseVersion, systemGit } from "../../scripts/platform/git.ts";
import { pathFromBytes, pathToBytes, zeroInput, zeroRecords } from "../../scripts/platform/git-paths.ts";
import { filterNames, filtersOff, isTrackedByGit, repositoryAt } from "../../scripts/platform/repository.ts";
import { tempFolder } from "../support/temp.ts";
import { git, sh, world, write } from "./git-world.ts";

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof EnvironmentFailure) return error.code;
    throw error;
  }
  return "none";
}

test("without a git on PATH the environment is named, and a missing folder is not taken for a missing git", () => {
  const none = systemGit({ ...process.env, PATH: tempFolder() });
  expect(codeOf(() => none.run(["status"], { cwd: "/" }))).toBe("git.missing");
  expect(codeOf(() => must(git, ["status"], { cwd: "/does/not/exist" }))).toBe("git.failed");
});

test("a git that hangs and ignores SIGTERM is ended at its time limit", () => {
  const bin = tempFolder();
  write(
    bin,
    "git",
    "#!/bin/sh\n[ \"$1\" = --version ] && echo git version 2.39.5 && exit\ntrap '' TERM\nwhile :; do sleep 1; done\n",
    0o755,
  );
  const slow = systemGit({ ...process.env, PATH: `${bin}:${process.env.PATH}` });
  const begun = Date.now();
  expect(codeOf(() => slow.run(["status"], { cwd: "/", timeoutMs: 300 }))).toBe("git.timeout");
  expect(Date.now() - begun).toBeLessThan(5000);
});

test("a GIT_DIR, an index, a config or a pager in the environment steers nothing", () => {
  const { root } = world();
  const other = world().root;
  const hostile = systemGit({
    ...process.env,
    GIT_DIR: join(other, ".git"),
    GIT_WORK_TREE: other,
    GIT_INDEX_FILE: "/nowhere",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.bare",
    GIT_CONFIG_VALUE_0: "true",
    GIT_EXTERNAL_DIFF: "/bin/false",
    GIT_PAGER: "/bin/false",
  });
  expect(repositoryAt(hostile, root)?.topLevel).toBe(root);
  write(root, "a.txt", "changed\n");
  expect(must(hostile, ["diff", "--no-ext-diff"], { cwd: root }).toString()).toContain("+changed");
});

test("no transport is opened, whatever a repository allows itself", () => {
  const { root } = world();
  sh(root, "config", "protocol.file.allow", "always");
  expect(git.run(["ls-remote", root], { cwd: root }).stderr).toContain("not allowed");
});

test("hooks do not run and loose objects are synced", () => {
  const { root, commonDir } = world();
  const witness = join(tempFolder(), "ran");
  write(commonDir, "hooks/reference-transaction", `#!/bin/sh\ntouch '${witness}'\n`, 0o755);
  must(git, ["update-ref", "refs/x/y", "HEAD"], { cwd: root });
  expect(existsSync(witness)).toBe(false);
  const trace = git.run(["hash-object", "-w", "--stdin"], { cwd: root, input: "new", env: { GIT_TRACE2_EVENT: "1" } });
  expect(trace.stderr).toMatch(/"key":"fsync\/hardware-flush","value":"[1-9]/);
});

test("too much output and a failed call are environment failures with git's own first line", () => {
  const { root } = world({ "a.txt": "x".repeat(10_000) });
  expect(codeOf(() => git.run(["cat-file", "-p", "HEAD:a.txt"], { cwd: root, bytesMax: 100 }))).toBe("git.too_large");
  expect(() => must(git, ["cat-file", "-p", "nothing"], { cwd: root })).toThrow(
    /cat-file: fatal: Not a valid object name/,
  );
});

test("versions are read from every vendor's wording", () => {
  expect(parseVersion("git version 2.39.5 (Apple Git-154)")).toEqual([2, 39, 5]);
  expect(parseVersion("git version 2.31.windows.1")).toEqual([2, 31, 0]);
  expect(isOlder([2, 30, 9], [2, 31, 0])).toBe(true);
  expect(isOlder(gitVersion(git), [2, 31, 0])).toBe(false);
});

test("a repository is told by absolute paths from its root, a subfolder, a linked tree, a bare one and an unborn branch", () => {
  const { root, commonDir } = world();
  const head = sh(root, "rev-parse", "HEAD");
  const main = { topLevel: root, commonDir, gitDir: commonDir, bare: false, shallow: false, unborn: false, head };
  expect(repositoryAt(git, root)).toEqual(main);
  expect(repositoryAt(git, join(root, "d"))).toEqual(main);
  const linked = join(tempFolder(), "new\nline");
  sh(root, "worktree", "add", "-q", "--detach", linked);
  expect(repositoryAt(git, linked)).toMatchObject({
    topLevel: linked,
    commonDir,
    gitDir: join(commonDir, "worktrees", "new-line"),
  });
  const bare = tempFolder();
  sh(bare, "init", "-q", "--bare");
  expect(repositoryAt(git, bare)).toMatchObject({
    topLevel: null,
    commonDir: bare,
    bare: true,
    unborn: true,
    head: null,
  });
  expect(repositoryAt(git, world(null).root)).toMatchObject({ unborn: true, head: null });
  expect(repositoryAt(git, tempFolder())).toBeNull();
});

test("a repository git refuses to read is a failure, not an absence", () => {
  const { root, commonDir } = world();
  writeFileSync(join(commonDir, "config"), "[core\n");
  expect(codeOf(() => repositoryAt(git, root))).toBe("git.failed");
});

test("configured filters are found by name and can be switched off, an equals sign in the name included", () => {
  const { root } = world({ "a.txt": "a\n", ".gitattributes": "*.txt filter=e=vil\n" });
  sh(root, "config", "filter.e=vil.clean", "sed s/^/EVIL/");
  sh(root, "config", "filter.e=vil.required", "true");
  expect(filterNames(git, root)).toEqual(["e=vil"]);
  write(root, "a.txt", "b\n");
  const hash = (env: Record<string, string>) =>
    must(git, ["hash-object", "--path=a.txt", "a.txt"], { cwd: root, env }).toString();
  expect(hash({})).not.toBe(must(git, ["hash-object", "--no-filters", "a.txt"], { cwd: root }).toString());
  expect(hash({ ...filtersOff(["e=vil"]) })).toBe(
    must(git, ["hash-object", "--no-filters", "a.txt"], { cwd: root }).toString(),
  );
  expect(filterNames(git, tempFolder())).toEqual([]);
});

test("what git tracks below a folder is told, taking the name literally", () => {
  const { root } = world({ "a.txt": "a\n", ".atlas/run/log.jsonl": "x\n", "st*r/x": "1" });
  const repository = repositoryAt(git, root);
  if (repository === null) throw new Error("no repository");
  expect(isTrackedByGit(git, repository, join(root, ".atlas"))).toBe(true);
  mkdirSync(join(root, "other"));
  expect(isTrackedByGit(git, repository, join(root, "other"))).toBe(false);
  expect(isTrackedByGit(git, repository, join(root, "*"))).toBe(false);
  expect(isTrackedByGit(git, repository, join(root, "st*r"))).toBe(true);
});

test("any bytes of a path survive the way to a string, through JSON, and back", () => {
  const samples = ["plain", "ünï", "😀", ""].map((text) => Buffer.from(text));
  samples.push(
    Buffer.from([0xff]),
    Buffer.from([0x61, 0xc3, 0x62]),
    Buffer.from([0xed, 0xb2, 0x80]),
    Buffer.from([0xf0, 0x9f, 0x98]),
  );
  for (const bytes of samples) expect(pathToBytes(JSON.parse(JSON.stringify(pathFromBytes(bytes))))).toEqual(bytes);
  expect(new Set(samples.map(pathFromBytes)).size).toBe(samples.length);
  const records = samples.slice(0, 3).concat(samples.slice(4)).map(pathFromBytes);
  expect(zeroRecords(zeroInput(records))).toEqual(records);
  expect(zeroRecords(Buffer.alloc(0))).toEqual([]);
});
