import { existsSync, mkdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EnvironmentFailure, Result } from "../../scripts/core/result.ts";
import { systemGit } from "../../scripts/platform/git.ts";
import { type KeepOrder, type Kept, keepTree, refSegment } from "../../scripts/platform/keep.ts";
import { openSnapshots } from "../../scripts/platform/snapshot.ts";
import { makeTree } from "../../scripts/platform/worktree-make.ts";
import { tempFolder } from "../support/temp.ts";
import { booby, contents, fs, git, sh, stoppingBefore, type World, world, write, writeHostile } from "./git-world.ts";

const prefix = "refs/atlas/run-1/e1/kept/w";
const keep = (at: World, more: Partial<KeepOrder> = {}, by = git): Result<Kept> =>
  keepTree(by, fs, at.snapshots, { path: at.path, commonDir: at.commonDir, refPrefix: prefix, ...more });
const kept = (result: Result<Kept>): Kept => {
  if (!result.ok) throw new Error(result.error.reason);
  return result.value;
};
const withTree = (at = world()): World => {
  const done = makeTree(git, fs, at.snapshots, { ...at, base: sh(at.root, "rev-parse", "HEAD") });
  if (!done.ok) throw new Error(done.error.reason);
  return at;
};
/** The files of a commit, read from the project's own store by a repository that knows nothing of the run. */
const filesOf = (at: World, commit: string): Record<string, string> => {
  const reader = openSnapshots(git, fs, tempFolder(), at.commonDir);
  const folder = tempFolder();
  reader.materialise(commit, folder);
  return contents(folder);
};
const refs = (at: World): string => sh(at.root, "for-each-ref", "--format=%(refname) %(objectname)", "refs/atlas");

test("tracked, staged and untracked content outlives the tree, the run's folder and a prune", () => {
  const at = withTree();
  writeHostile(at.path);
  write(at.path, "a.txt", "staged\n");
  sh(at.path, "add", "a.txt");
  write(at.path, "a.txt", "working\n");
  sh(at.path, "commit", "-q", "--allow-empty", "-m", "agent's");
  write(at.path, "a.txt", "staged again\n");
  sh(at.path, "add", "a.txt");
  write(at.path, "a.txt", "working\n");
  rmSync(join(at.path, "d"), { recursive: true });
  const files = contents(at.path);
  const done = kept(keep(at));
  const head = sh(at.path, "rev-parse", "HEAD");
  expect(done).toMatchObject({
    worktree: { ref: `${prefix}/worktree` },
    index: { ref: `${prefix}/index` },
    nested: [],
    ignoredCount: 0,
  });
  sh(at.root, "worktree", "remove", "--force", at.path);
  rmSync(join(at.root, ".atlas"), { recursive: true });
  sh(at.root, "reflog", "expire", "--expire=now", "--all");
  sh(at.root, "gc", "--quiet", "--prune=now");
  expect(filesOf(at, done.worktree.commit)).toEqual(files);
  expect(sh(at.root, "rev-parse", `${prefix}/worktree^`)).toBe(head);
  expect(sh(at.root, "show", `${prefix}/index:a.txt`)).toBe("staged again");
  expect(sh(at.root, "fsck", "--strict")).toBe("");
});

test("nothing of the repository runs, and the bytes are the raw ones", () => {
  const at = withTree();
  const witness = booby(at.root, at.commonDir);
  const raw = { "a.txt": "x\r\n", "n.bin": "\0\r\n", "n.u16": "plain", "n.id": "$Id$\r\n" };
  for (const [name, content] of Object.entries(raw)) write(at.path, name, content);
  write(
    at.path,
    ".gitattributes",
    "*.txt filter=evil text eol=lf\n*.bin filter=longrun\n*.u16 working-tree-encoding=UTF-16\n*.id ident text\n",
  );
  const hostile = systemGit({
    ...process.env,
    GIT_DIR: "/nowhere",
    GIT_INDEX_FILE: "/nowhere",
    GIT_OBJECT_DIRECTORY: "/nowhere",
  });
  const snapshots = openSnapshots(hostile, fs, at.runDir, at.commonDir);
  const done = kept(keep({ ...at, snapshots }, {}, hostile));
  expect(filesOf(at, done.worktree.commit)).toEqual(contents(at.path));
  expect(existsSync(witness)).toBe(false);
});

test("keeping twice is keeping once; the ignored files may have changed meanwhile", () => {
  const at = withTree(world({ ".gitignore": "*.log\n", a: "1" }));
  write(at.path, "new", "1");
  write(at.path, "x.log", "12345");
  write(at.path, "deep/with space.log", "1");
  const first = kept(keep(at));
  expect(first.ignored).toEqual([
    { path: "deep/with space.log", bytes: 1 },
    { path: "x.log", bytes: 5 },
  ]);
  expect(sh(at.root, "log", "-1", "--format=%B", first.worktree.commit)).toContain(
    'Ignored, not kept (2):\n1 "deep/with space.log"\n5 "x.log"',
  );
  const before = refs(at);
  write(at.path, "x.log", "123456789");
  const second = kept(keep(at));
  expect({ ...second, ignored: first.ignored }).toEqual(first);
  expect(refs(at)).toBe(before);
});

test("other content under the same name never takes the place of what is kept", () => {
  const at = withTree();
  write(at.path, "new", "1");
  const first = kept(keep(at));
  write(at.path, "new", "2");
  const second = kept(keep(at));
  expect(second.worktree.ref).toBe(`${prefix}.2/worktree`);
  sh(at.path, "add", "new");
  write(at.path, "new", "3");
  expect(kept(keep(at))).toMatchObject({
    worktree: { ref: `${prefix}.3/worktree` },
    index: { ref: `${prefix}.3/index` },
  });
  write(at.path, "new", "1");
  sh(at.path, "reset", "-q");
  expect(kept(keep(at)).worktree).toEqual(first.worktree);
});

test("what an earlier epoch kept and could not say is not kept a second time, and what it left out is added there", () => {
  const at = withTree();
  write(at.path, "a.txt", "staged\n");
  sh(at.path, "add", "a.txt");
  write(at.path, "a.txt", "half wri");
  const first = kept(keep(at, { refPrefix: "refs/atlas/run-1/e2/kept/w" }));
  sh(at.root, "update-ref", "-d", "refs/atlas/run-1/e2/kept/w/index");
  // Names that only look alike, and another run's, are no answer.
  for (const other of ["run-1/e2/kept/w1", "run-2/e2/kept/w"]) {
    sh(at.root, "update-ref", `refs/atlas/${other}/worktree`, first.worktree.commit);
  }
  expect(kept(keep(at, { refPrefix: "refs/atlas/run-1/e10/kept/w" }))).toEqual(first);
  write(at.path, "a.txt", "half written");
  const later = kept(keep(at, { refPrefix: "refs/atlas/run-1/e10/kept/w" }));
  expect(later.worktree.ref).toBe("refs/atlas/run-1/e10/kept/w/worktree");
  write(at.path, "a.txt", "half wri");
  expect(kept(keep(at, { refPrefix: "refs/atlas/run-1/e11/kept/w" }))).toEqual(first);
});

test("a clean tree needs no index ref, and its HEAD is kept", () => {
  const at = withTree();
  const done = kept(keep(at));
  expect(done.index).toBeNull();
  expect(done.tree).toBe(sh(at.root, "rev-parse", "HEAD^{tree}"));
  expect(sh(at.root, "rev-parse", `${done.worktree.commit}^`)).toBe(sh(at.root, "rev-parse", "HEAD"));
});

test("all sides of an unmerged file are kept", () => {
  const at = withTree();
  sh(at.path, "checkout", "-q", "-b", "one");
  write(at.path, "a.txt", "one\n");
  sh(at.path, "commit", "-qam", "one");
  sh(at.path, "checkout", "-q", "-b", "two", "HEAD^");
  write(at.path, "a.txt", "two\n");
  sh(at.path, "commit", "-qam", "two");
  expect(() => sh(at.path, "merge", "-q", "one")).toThrow();
  const index = kept(keep(at)).index?.commit ?? "";
  expect([1, 2, 3].map((stage) => sh(at.root, "show", `${index}:a.txt.stage-${stage}`))).toEqual(["a", "two", "one"]);
});

test("an index torn by a power loss, or locked by a killed git, does not stop the keeping", () => {
  const at = withTree();
  write(at.path, "new", "1");
  writeFileSync(join(at.commonDir, "worktrees/e1/index.lock"), "");
  kept(keep(at));
  writeFileSync(join(at.commonDir, "worktrees/e1/index"), "");
  expect(kept(keep(at))).toMatchObject({ index: null, worktree: { ref: `${prefix}/worktree` } });
});

test("an ignored file that is tracked, and a submodule, are each where they belong", () => {
  const at = withTree(world({ a: "1" }));
  write(at.path, ".gitignore", "*.log\n");
  write(at.path, "kept.log", "1");
  sh(at.path, "add", "-f", "kept.log");
  mkdirSync(join(at.path, "inner"));
  sh(join(at.path, "inner"), "init", "-q");
  const done = kept(keep(at));
  expect(filesOf(at, done.worktree.commit)).toMatchObject({ "kept.log": "- 1" });
  expect(done).toMatchObject({ ignoredCount: 0, nested: ["inner"] });
});

test("at most 1,000 ignored files are listed, all are counted", () => {
  const at = withTree(world({ ".gitignore": "out/\n" }));
  for (let n = 0; n < 1005; n += 1) write(at.path, `out/${n}`, "");
  const done = kept(keep(at));
  expect([done.ignored.length, done.ignoredCount]).toEqual([1000, 1005]);
});

test("killed before any of its effects, keeping again keeps the same", () => {
  const at = withTree();
  write(at.path, "a.txt", "staged\n");
  sh(at.path, "add", "a.txt");
  write(at.path, "a.txt", "working\n");
  const act = (by: ReturnType<typeof stoppingBefore>) => {
    const snapshots = openSnapshots(by.git, by.fs, at.runDir, at.commonDir);
    return kept(keepTree(by.git, by.fs, snapshots, { ...at, refPrefix: prefix }));
  };
  let effects = 0;
  for (let whole = false; !whole; effects += 1) {
    try {
      act(stoppingBefore(effects + 1));
      whole = true;
    } catch (error) {
      expect(String(error)).toMatch(/killed/);
    }
    const done = act({ git, fs });
    const wanted = [`${prefix}/index ${done.index?.commit}`, `${prefix}/worktree ${done.worktree.commit}`];
    expect(refs(at).split("\n").sort()).toEqual(wanted);
    rmSync(join(at.commonDir, "refs/atlas"), { recursive: true });
    sh(at.root, "prune", "--expire=now");
  }
  expect(effects).toBeGreaterThan(12);
}, 120_000);

test("a lock on a ref is respected while its holder may live, and removed when it is gone", () => {
  const at = withTree();
  const lock = join(at.commonDir, `${prefix}/worktree.lock`);
  write(at.commonDir, `${prefix}/worktree.lock`, "");
  const locked = () => {
    try {
      return kept(keep(at)).worktree.ref;
    } catch (error) {
      return (error as EnvironmentFailure).code;
    }
  };
  expect(locked()).toBe("git.ref_locked");
  expect(existsSync(lock)).toBe(true);
  expect(kept(keep(at, { performerGone: true })).worktree.ref).toBe(`${prefix}/worktree`);
  expect(existsSync(lock)).toBe(false);
});

test("only a tree of ours is kept, under a ref of ours", () => {
  const at = withTree();
  const codes = [
    keep(at, { path: at.root }),
    keep(at, { path: join(at.root, "d") }),
    keep(at, { refPrefix: "refs/heads/x" }),
    keep(at, { refPrefix: "refs/atlas/a..b" }),
  ];
  expect(codes.map((result) => (result.ok ? "kept" : result.error.code))).toEqual([
    "tree.foreign",
    "tree.foreign",
    "keep.ref",
    "keep.ref",
  ]);
  expect(refs(at)).toBe("");
  unlinkSync(join(at.path, ".git"));
  expect(keep(at).ok).toBe(false);
});

test("a run id git takes is its own segment, any other is a hash", () => {
  expect(refSegment(git, "20260101t000000z-0a1b2c")).toBe("20260101t000000z-0a1b2c");
  expect(refSegment(git, "x.lock")).toMatch(/^x-[0-9a-f]{8}$/);
  expect(refSegment(git, "a..b")).not.toBe(refSegment(git, "a..c"));
});
