import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changesBetween, patchBetween } from "../../scripts/platform/changes.ts";
import { openSnapshots } from "../../scripts/platform/snapshot.ts";
import { youngEntries } from "../../scripts/platform/young-entries.ts";
import { tempFolder } from "../support/temp.ts";
import { booby, contents, fs, git, sh, type World, world, write, writeHostile } from "./git-world.ts";

/** Materialises a tree beside the world and reads it back. */
function rebuilt({ snapshots }: World, tree: string): Record<string, string> {
  const folder = tempFolder();
  snapshots.materialise(tree, folder);
  return contents(folder);
}

/** Until the clock has left the second of the file's last change, and the one a snapshot distrusts beside it. */
function waitUntilOld(file: string): void {
  const until = (Math.floor(statSync(file).ctimeMs / 1000) + 2) * 1000;
  while (Date.now() < until) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
}

const withoutGit = (): World => {
  const root = tempFolder("no git $ 'x' ");
  const runDir = join(root, ".atlas", "run-1");
  mkdirSync(runDir, { recursive: true });
  return { root, commonDir: "", runDir, snapshots: openSnapshots(git, fs, runDir, null), path: "" };
};

test.each([
  ["in a repository", () => world()],
  ["on an unborn branch", () => world(null)],
  ["outside git", withoutGit],
  ["below a path with spaces, quotes, $ and other letters", () => world({ "a.txt": "a\n" }, 'sp ace "q" $x ü\n')],
])("every byte, mode, link and name comes back %s, and the same files give the same id", (_, make) => {
  const at = make();
  write(at.root, "a.txt", "a\n");
  writeHostile(at.root);
  const first = at.snapshots.take(at.root);
  expect(first.nested).toEqual([]);
  expect(rebuilt(at, first.tree)).toEqual(contents(at.root));
  expect(at.snapshots.take(at.root)).toEqual(first);
  const elsewhere = join(at.runDir, "again");
  mkdirSync(elsewhere);
  const cold = openSnapshots(git, fs, elsewhere, at.commonDir === "" ? null : at.commonDir);
  expect(cold.take(at.root)).toEqual(first);
});

test("nothing of the target repository runs while a tree is taken, listed as changes, or written", () => {
  const at = world();
  const before = at.snapshots.take(at.root).tree;
  const witness = booby(at.root, at.commonDir);
  const files = { "a.txt": "x\r\ny\n", "b.bin": "\0\r\n", "c.u16": "plain\n", "d.id": "$Id$\n" };
  for (const [name, content] of Object.entries(files)) write(at.root, name, content);
  const { tree } = at.snapshots.take(at.root);
  expect(rebuilt(at, tree)).toEqual(contents(at.root));
  expect(rebuilt(at, tree)["a.txt"]).toBe("- x\r\ny\n");
  expect(changesBetween(at.snapshots, before, tree).map((change) => change.path)).toContain("a.txt");
  expect(patchBetween(at.snapshots, before, tree).toString("latin1")).toContain("+x\r\n");
  expect(existsSync(witness)).toBe(false);
});

test("CRLF files under core.autocrlf=true keep their bytes", () => {
  const at = world();
  sh(at.root, "config", "core.autocrlf", "true");
  write(at.root, "dos.txt", "one\r\ntwo\r\n");
  expect(rebuilt(at, at.snapshots.take(at.root).tree)["dos.txt"]).toBe("- one\r\ntwo\r\n");
});

test("ignored files stay out, by every place a rule can stand; tracked ones are in though ignored", () => {
  const at = world({ ".gitignore": "*.log\nbuild/\n", "a.txt": "a\n" });
  write(at.commonDir, "info/exclude", "*.mine\n");
  write(at.root, "global-rules", "*.glob\n");
  sh(at.root, "config", "core.excludesFile", join(at.root, "global-rules"));
  for (const name of ["x.log", "build/x", "x.mine", "x.glob", "kept.log", "build/kept"]) write(at.root, name, name);
  sh(at.root, "add", "-f", "kept.log", "build/kept");
  const taken = () => Object.keys(rebuilt(at, at.snapshots.take(at.root).tree)).sort();
  expect(taken()).toEqual([".gitignore", "a.txt", "build/kept", "global-rules", "kept.log"]);
  sh(at.root, "rm", "-q", "--cached", "kept.log");
  rmSync(join(at.root, "build/kept"));
  expect(taken()).toEqual([".gitignore", "a.txt", "global-rules"]);
});

test("a rule written later takes a file out, as if the tree had never been taken before", () => {
  const at = world();
  write(at.root, "x.log", "1");
  at.snapshots.take(at.root);
  write(at.root, ".gitignore", "*.log\n");
  expect(Object.keys(rebuilt(at, at.snapshots.take(at.root).tree))).not.toContain("x.log");
});

test("the ledger's folder is never taken, not even when git tracks it", () => {
  const at = world({ "a.txt": "a\n", ".atlas/run-0/log.jsonl": "x\n" });
  expect(changesBetween(at.snapshots, at.snapshots.take(at.root).tree, at.snapshots.take(at.root).tree)).toEqual([]);
  const listed = at.snapshots.run(["ls-tree", "-r", "--name-only", at.snapshots.take(at.root).tree]).stdout.toString();
  expect(listed).toBe("a.txt\n");
});

test("deleting, and turning a file into a folder, a folder into a file, or either into a link, is seen", () => {
  const at = world({ file: "1", "folder/a": "2", gone: "3", other: "4", "linked/x": "5" });
  const before = at.snapshots.take(at.root).tree;
  for (const name of ["file", "folder", "gone", "other", "linked"]) rmSync(join(at.root, name), { recursive: true });
  write(at.root, "file/inside", "1");
  write(at.root, "folder", "2");
  symlinkSync("file", join(at.root, "other"));
  mkdirSync(join(at.root, ".atlas/target"));
  write(at.root, ".atlas/target/x", "5");
  symlinkSync(".atlas/target", join(at.root, "linked"));
  const after = at.snapshots.take(at.root).tree;
  expect(rebuilt(at, after)).toEqual(contents(at.root));
  expect(changesBetween(at.snapshots, before, after).map(({ status, path }) => `${status} ${path}`)).toEqual([
    "D file",
    "A file/inside",
    "A folder",
    "D folder/a",
    "D gone",
    "A linked",
    "D linked/x",
    "T other",
  ]);
});

test("a file rewritten at once with the same size and time is still seen, whatever the user trusts", () => {
  for (const trust of ["true", "false"]) {
    const at = world();
    sh(at.root, "config", "--global", "core.trustctime", trust);
    const long = new Date("2020-01-01T00:00:00Z");
    const seen = new Set<string>();
    // Many in one second: git compares whole seconds of the time it trusts.
    for (const content of "abcdef") {
      write(at.root, "a.txt", `${content}\n`);
      utimesSync(join(at.root, "a.txt"), long, long);
      seen.add(at.snapshots.take(at.root).tree);
    }
    expect(seen.size).toBe(6);
  }
  sh(tempFolder(), "config", "--global", "--unset", "core.trustctime");
});

test("entries are old or young by their own time, and a file of another form has no answer", () => {
  const at = world({ "a.txt": "a", [`${"long/".repeat(100)}name`]: "b", "ü ": "c", "1234567": "d", "12345678": "e" });
  const names = sh(at.root, "ls-files", "-z")
    .split("\0")
    .filter((name) => name !== "");
  const index = readFileSync(join(at.commonDir, "index"));
  expect(youngEntries(index, 0, 20)?.map((entry) => entry.path)).toEqual(names);
  const first = youngEntries(index, 0, 20)?.[0];
  expect(`${first?.mode} ${first?.blob} 0\t${first?.path}`).toBe(sh(at.root, "ls-files", "-s").split("\n")[0]);
  expect(youngEntries(index, Math.floor(Date.now() / 1000) + 60, 20)).toEqual([]);
  for (const bad of [Buffer.alloc(0), Buffer.from("DIRC"), index.subarray(0, 60), Buffer.alloc(200, 1)]) {
    expect(youngEntries(bad, 0, 20)).toBeNull();
  }
});

test("an old cache is still used: a file whose time did not change is not read again", () => {
  const at = world();
  waitUntilOld(join(at.root, "a.txt"));
  at.snapshots.take(at.root);
  const cache = fs.readdirSync(at.snapshots.gitDir).find((name) => name.startsWith("index-")) ?? "";
  const later = youngEntries(readFileSync(join(at.snapshots.gitDir, cache)), 1, 20);
  expect(later?.map((entry) => entry.path)).toEqual(["a.txt", "d/b.txt"]);
});

test("changes made in the same instant as the snapshot are seen every time", () => {
  const at = world();
  const seen = new Set<string>();
  for (let round = 0; round < 8; round += 1) {
    write(at.root, "a.txt", `${round}\n`);
    seen.add(at.snapshots.take(at.root).tree);
  }
  expect(seen.size).toBe(8);
});

test("repositories inside the tree are named and never entered, with or without a commit, submodules too", () => {
  const inner = world({ x: "1" });
  const at = world();
  sh(at.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.root, "sub");
  sh(at.root, "commit", "-qm", "sub");
  for (const name of ["empty", "full"]) {
    mkdirSync(join(at.root, name));
    sh(join(at.root, name), "init", "-q");
    write(join(at.root, name), "inside", "1");
  }
  sh(join(at.root, "full"), "add", "-A");
  sh(join(at.root, "full"), "commit", "-qm", "1");
  write(at.root, "sub/dirty", "1");
  const before = at.snapshots.take(at.root);
  expect(before.nested).toEqual(["empty", "full", "sub"]);
  expect(Object.keys(rebuilt(at, before.tree)).sort()).toEqual([".gitmodules", "a.txt", "d/b.txt"]);
  // A tracked file that becomes a repository is not refreshed into a gitlink.
  rmSync(join(at.root, "a.txt"));
  renameSync(join(at.root, "full"), join(at.root, "a.txt"));
  const after = at.snapshots.take(at.root);
  expect(after.nested).toEqual(["a.txt", "empty", "sub"]);
  expect(changesBetween(at.snapshots, before.tree, after.tree).map(({ status, path }) => status + path)).toEqual([
    "Da.txt",
  ]);
});

test("what a sparse checkout leaves out is no deletion", () => {
  const at = world({ "in/a": "1", "out/b": "2" });
  const full = at.snapshots.take(at.root).tree;
  sh(at.root, "sparse-checkout", "set", "in");
  expect(existsSync(join(at.root, "out"))).toBe(false);
  expect(at.snapshots.take(at.root).tree).toBe(full);
  write(at.root, "in/a", "changed");
  expect(changesBetween(at.snapshots, full, at.snapshots.take(at.root).tree).map(({ path }) => path)).toEqual(["in/a"]);
});

test("in a shallow clone and in a tree of a bare repository a snapshot is as anywhere", () => {
  const origin = world();
  write(origin.root, "a.txt", "2\n");
  sh(origin.root, "commit", "-qam", "two");
  const shallow = join(tempFolder(), "c");
  sh(origin.root, "clone", "-q", "--depth=1", `file://${origin.root}`, shallow);
  const bare = join(tempFolder(), "b.git");
  sh(origin.root, "clone", "-q", "--bare", origin.root, bare);
  const linked = join(tempFolder(), "w");
  sh(bare, "worktree", "add", "-q", "--detach", linked);
  const tree = origin.snapshots.take(origin.root).tree;
  for (const [root, commonDir] of [
    [shallow, join(shallow, ".git")],
    [linked, bare],
  ] as const) {
    const runDir = tempFolder();
    expect(openSnapshots(git, fs, runDir, commonDir).take(root)).toEqual({ tree, nested: [] });
  }
});

test("what is taken is readable by the tree of a commit, a tree id, and by nothing else", () => {
  const at = world();
  const head = sh(at.root, "rev-parse", "HEAD");
  const tree = sh(at.root, "rev-parse", "HEAD^{tree}");
  expect(at.snapshots.treeOf(head)).toBe(tree);
  expect(at.snapshots.treeOf(tree)).toBe(tree);
  for (const id of ["HEAD", "--all", "", "0".repeat(40), sh(at.root, "rev-parse", "HEAD:a.txt")])
    expect(at.snapshots.treeOf(id)).toBeNull();
});

test("a cache torn by a power loss, a half-made repository and a changed attributes file heal", () => {
  const at = world();
  writeHostile(at.root);
  const { tree } = at.snapshots.take(at.root);
  const cache = fs.readdirSync(at.snapshots.gitDir).find((name) => name.startsWith("index-")) ?? "";
  truncateSync(join(at.snapshots.gitDir, cache), 20);
  expect(at.snapshots.take(at.root).tree).toBe(tree);
  for (const name of ["HEAD", "config", "info/attributes", "objects/info/alternates"]) {
    writeFileSync(join(at.snapshots.gitDir, name), "");
    rmSync(join(at.snapshots.gitDir, name === "info/attributes" ? "info" : name), { recursive: true });
    expect(openSnapshots(git, fs, at.runDir, at.commonDir).take(at.root).tree).toBe(tree);
  }
  const dead = spawnSync("true").pid;
  writeFileSync(join(at.snapshots.gitDir, `taking-${dead}-00`), "");
  openSnapshots(git, fs, at.runDir, at.commonDir);
  expect(fs.readdirSync(at.snapshots.gitDir).filter((name) => name.startsWith("taking-"))).toEqual([]);
});

test("objects the project pruned are read again from the files", () => {
  const at = world();
  write(at.root, "staged", "only staged\n");
  sh(at.root, "add", "staged");
  const { tree } = at.snapshots.take(at.root);
  sh(at.root, "rm", "-q", "--cached", "staged");
  sh(at.root, "prune", "--expire=now");
  expect(at.snapshots.take(at.root).tree).toBe(tree);
  expect(rebuilt(at, tree)).toEqual(contents(at.root));
});

test("a patch between two snapshots is what git apply takes, for all files and for chosen ones", () => {
  const at = world({ "a.txt": "a\n", "gone.txt": "x\n", "big.bin": Buffer.from([0, 1, 2]), "same/x": "1" });
  const before = at.snapshots.take(at.root).tree;
  sh(at.root, "config", "diff.noprefix", "true");
  sh(at.root, "config", "diff.renames", "copies");
  write(at.root, ".gitattributes", "*.txt -diff\n");
  writeHostile(at.root);
  write(at.root, "a.txt", "changed\n");
  rmSync(join(at.root, "gone.txt"));
  write(at.root, "big.bin", Buffer.from([9, 0, 13, 10]));
  const after = at.snapshots.take(at.root).tree;
  const patch = patchBetween(at.snapshots, before, after);
  expect(patch.toString("latin1")).toContain("-a\n+changed\n");

  const applied = (bytes: Buffer) => {
    const folder = tempFolder();
    at.snapshots.materialise(before, folder);
    const done = git.run(["apply", "--whitespace=nowarn", "-"], { cwd: folder, input: bytes });
    expect(done.stderr).toBe("");
    return contents(folder);
  };
  expect(applied(patch)).toEqual(contents(at.root));
  const changes = changesBetween(at.snapshots, before, after);
  const bad = changes.find((change) => change.path.includes("bad-"))?.path ?? "";
  const some = applied(patchBetween(at.snapshots, before, after, ["gone.txt", "bin/run", bad, "names"]));
  const old = { "a.txt": "- a\n", "big.bin": "- \0\x01\x02", "same/x": "- 1" };
  expect(some).toEqual({ ...old, "bin/run": "x #!/bin/sh\n", "names/bad-\xff\xfe-end": "- raw bytes\n" });
  expect(patchBetween(at.snapshots, before, before).length).toBe(0);
});

test("a 20 MB file is taken and written back", () => {
  const at = world();
  const big = Buffer.alloc(20 * 1024 * 1024, "0123456789abcdef\r\n");
  writeFileSync(join(at.root, "big"), big);
  const folder = tempFolder();
  at.snapshots.materialise(at.snapshots.take(at.root).tree, folder);
  expect(spawnSync("cmp", [join(at.root, "big"), join(folder, "big")]).status).toBe(0);
});

test("a file that cannot be read is a failure, never a missing file", () => {
  const at = world();
  const file = join(at.root, "secret");
  writeFileSync(file, "x", { mode: 0 });
  const root = process.getuid?.() === 0;
  if (root) expect(at.snapshots.take(at.root).tree).toMatch(/^[0-9a-f]{40}$/);
  else expect(() => at.snapshots.take(at.root)).toThrow(/secret|adding files/);
});
