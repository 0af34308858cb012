import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Result } from "../../scripts/core/result.ts";
import { keepTree } from "../../scripts/platform/keep.ts";
import { openSnapshots } from "../../scripts/platform/snapshot.ts";
import { inspectTree } from "../../scripts/platform/worktree.ts";
import { type MadeTree, makeTree, moveTree } from "../../scripts/platform/worktree-make.ts";
import { type Removed, removeTree } from "../../scripts/platform/worktree-remove.ts";
import { tempFolder } from "../support/temp.ts";
import {
  booby,
  contents,
  fs,
  git,
  hostileNames,
  sh,
  stoppingBefore,
  type World,
  world,
  worldAt,
  write,
  writeHostile,
} from "./git-world.ts";

const made = (result: Result<MadeTree>): MadeTree => {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.reason}`);
  return result.value;
};
const codeOf = <T>(result: Result<T>): string => (result.ok ? "made" : result.error.code);
const make = (at: World, base: string | null = sh(at.root, "rev-parse", "HEAD"), tree?: string, by = git) =>
  makeTree(by, fs, at.snapshots, {
    path: at.path,
    commonDir: at.commonDir,
    base,
    ...(tree === undefined ? {} : { tree }),
  });
const inspected = (at: World, path = at.path) => inspectTree(git, fs, { path, commonDir: at.commonDir });
const remove = (at: World, keptRef?: string): Removed =>
  removeTree(git, fs, at.snapshots, {
    path: at.path,
    commonDir: at.commonDir,
    ...(keptRef === undefined ? {} : { keptRef }),
  });
const whyNot = (removed: Removed): string => (removed.removed ? "removed" : removed.why);
const kept = (at: World): string => {
  const result = keepTree(git, fs, at.snapshots, {
    path: at.path,
    commonDir: at.commonDir,
    refPrefix: "refs/atlas/run-1/e1/kept/w",
  });
  if (!result.ok) throw new Error(result.error.reason);
  return result.value.worktree.ref;
};
/** What git and the disk say of a tree, to compare two ways of making it. */
const portrait = (at: World) => ({
  files: contents(at.path),
  head: sh(at.path, "rev-parse", "HEAD"),
  status: sh(at.path, "status", "--porcelain=v1", "-z"),
  listed: sh(at.root, "worktree", "list", "--porcelain"),
  beside: fs.readdirSync(dirname(at.path)).sort(),
  is: inspected(at).is,
});

test("a plain folder inside the main tree, the main tree and a subfolder of ours are never ours", () => {
  const at = world();
  make(at);
  const plain = join(at.runDir, "plain");
  mkdirSync(plain);
  expect(inspected(at, plain).is).toBe("unregistered-folder");
  expect(inspected(at, at.root)).toMatchObject({ is: "foreign", why: "the main working tree" });
  expect(inspected(at, join(at.path, "d")).is).toBe("unregistered-folder");
  expect(inspected(at).is).toBe("ours");
});

test("a file, a link, nothing, another repository, another repository's tree and a locked tree are each told apart", () => {
  const at = world();
  make(at);
  const other = world();
  make(other);
  write(at.runDir, "file", "");
  expect(inspected(at, join(at.runDir, "file")).is).toBe("not-a-worktree");
  symlinkSync(at.path, join(at.runDir, "link"));
  expect(inspected(at, join(at.runDir, "link")).is).toBe("foreign");
  symlinkSync(dirname(at.path), join(at.runDir, "parent"));
  expect(inspected(at, join(at.runDir, "parent", "e1")).is).toBe("foreign");
  expect(inspected(at, join(at.runDir, "none")).is).toBe("absent");
  expect(inspected(at, other.root).is).toBe("foreign");
  expect(inspected(at, other.path)).toMatchObject({ is: "foreign", why: "a working tree of another repository" });
  sh(at.root, "worktree", "lock", "--reason", "mine", at.path);
  expect(inspected(at)).toMatchObject({ is: "locked", why: "locked: mine" });
});

test("a copy of our tree is not ours while ours is there", () => {
  const at = world();
  make(at);
  const copy = join(at.runDir, "copy");
  cpSync(at.path, copy, { recursive: true });
  expect(inspected(at, copy)).toMatchObject({ is: "foreign", why: "a copy of another working tree" });
  expect(inspected(at).is).toBe("ours");
});

test("the tree holds the snapshot byte for byte, and git status shows exactly how it differs from HEAD", () => {
  const at = world({ "a.txt": "a\n", "d/b.txt": "b\n", gone: "x" });
  writeHostile(at.root);
  write(at.root, "d/b.txt", "changed\n");
  rmSync(join(at.root, "gone"));
  const { tree } = at.snapshots.take(at.root);
  const head = sh(at.root, "rev-parse", "HEAD");
  expect(made(make(at, head, tree))).toEqual({ head, tree });
  expect(contents(at.path)).toEqual(contents(at.root));
  const own = sh(at.root, "status", "--porcelain=v1", "-z", "--untracked-files=all");
  expect(sh(at.path, "status", "--porcelain=v1", "-z", "--untracked-files=all")).toBe(own);
  expect(own).toContain(hostileNames[0]);
  expect(at.snapshots.take(at.path).tree).toBe(tree);
  expect(sh(at.path, "rev-parse", "--abbrev-ref", "HEAD")).toBe("HEAD");
});

test("nothing of the repository runs while a tree is made, moved, kept or removed", () => {
  const at = world({ "a.txt": "a\n", "x.bin": "1", "y.id": "$Id$", "z.u16": "u" });
  const witness = booby(at.root, at.commonDir);
  const { tree } = at.snapshots.take(at.root);
  made(make(at, sh(at.root, "-c", "core.fsmonitor=false", "rev-parse", "HEAD"), tree));
  expect(contents(at.path)).toEqual(contents(at.root));
  write(at.path, "a.txt", "agent\r\n");
  write(at.path, "new.txt", "agent\r\n");
  expect(moveTree(git, fs, at, join(dirname(at.path), "e2")).ok).toBe(true);
  expect(moveTree(git, fs, { ...at, path: join(dirname(at.path), "e2") }, at.path).ok).toBe(true);
  expect(whyNot(remove(at, kept(at)))).toBe("removed");
  expect(existsSync(witness)).toBe(false);
});

test.each([
  ["a commit", (at: World) => sh(at.root, "rev-parse", "HEAD")],
  ["the tree of a commit", (at: World) => sh(at.root, "rev-parse", "HEAD^{tree}")],
  [
    "a snapshot only the run knows",
    (at: World) => {
      write(at.root, "new/file", "only here\n");
      return at.snapshots.take(at.root).tree;
    },
  ],
  ["the empty tree, never written", () => "4b825dc642cb6eb9a060e54bf8d69288fbee4904"],
  ["nothing", () => null],
])("a tree stands on %s, and making it twice is making it once", (_, base) => {
  const at = world();
  const first = made(make(at, base(at)));
  expect(sh(at.path, "status", "--porcelain")).toBe("");
  expect(sh(at.path, "rev-parse", "HEAD")).toBe(first.head);
  expect(sh(at.path, "rev-parse", "HEAD^{tree}")).toBe(first.tree);
  const before = portrait(at);
  expect(made(make(at, base(at)))).toEqual(first);
  expect(portrait(at)).toEqual(before);
  expect(whyNot(remove(at))).toBe("removed");
  expect(sh(at.root, "worktree", "list").split("\n").length).toBe(1);
});

test("on an unborn branch the files stand untracked in a tree of their own", () => {
  const at = world(null);
  write(at.root, "first.txt", "1\n");
  const { tree } = at.snapshots.take(at.root);
  made(make(at, null, tree));
  expect(contents(at.path)).toEqual(contents(at.root));
  expect(sh(at.path, "status", "--porcelain")).toBe("?? first.txt");
  expect(() => sh(at.root, "rev-parse", "--verify", "-q", "HEAD")).toThrow();
});

test("an unknown base or tree is refused before anything is made", () => {
  const at = world();
  for (const base of ["f".repeat(40), "HEAD", "--help", sh(at.root, "rev-parse", "HEAD:a.txt")]) {
    expect(codeOf(make(at, base))).toBe("tree.unknown");
  }
  expect(codeOf(make(at, undefined, "e".repeat(40)))).toBe("tree.unknown");
  expect(existsSync(dirname(at.path))).toBe(false);
});

/** Kills `act` before its first effect, its second, and so on until it comes through; returns how many there were. */
function killedEverywhere(
  act: (by: Pick<ReturnType<typeof stoppingBefore>, "git" | "fs">) => void,
  after: () => void,
): number {
  for (let k = 1; ; k += 1) {
    let killed = false;
    try {
      act(stoppingBefore(k));
    } catch (error) {
      killed = true;
      expect(String(error)).toMatch(/killed|UNKNOWN/);
    }
    act({ git, fs });
    after();
    if (!killed) return k - 1;
  }
}

test("killed before any of its effects, making a tree again gives what an uninterrupted making gives", () => {
  const at = world();
  write(at.root, "new.txt", "1\n");
  const base = sh(at.root, "rev-parse", "HEAD");
  const { tree } = at.snapshots.take(at.root);
  made(make(at, base, tree));
  const wanted = portrait(at);
  const clear = () => {
    expect(portrait(at)).toEqual(wanted);
    sh(at.root, "worktree", "remove", "--force", at.path);
  };
  clear();
  const act = (by: ReturnType<typeof stoppingBefore>) => {
    const snapshots = openSnapshots(by.git, by.fs, at.runDir, at.commonDir);
    expect(made(makeTree(by.git, by.fs, snapshots, { ...at, base, tree }))).toEqual({ head: base, tree });
  };
  expect(killedEverywhere(act, clear)).toBeGreaterThan(10);
}, 120_000);

test("a making killed between its renames and writes is finished by the next", () => {
  const at = world();
  const first = made(make(at));
  const whole = portrait(at);
  const admin = join(at.commonDir, "worktrees", "e1");
  const making = join(dirname(at.path), ".making", "e1");
  const leftovers: (() => void)[] = [
    // Renamed, git's entry still names the old place.
    () => writeFileSync(join(admin, "gitdir"), `${making}/.git\n`),
    // Not renamed yet.
    () => {
      mkdirSync(dirname(making));
      renameSync(at.path, making);
      writeFileSync(join(admin, "gitdir"), `${making}/.git\n`);
    },
    // Half of its files written, one of them torn.
    () => {
      mkdirSync(dirname(making));
      renameSync(at.path, making);
      writeFileSync(join(admin, "gitdir"), `${making}/.git\n`);
      writeFileSync(join(making, "a.txt"), "");
      rmSync(join(making, "d"), { recursive: true });
      writeFileSync(join(admin, "index.lock"), "");
    },
    // `git worktree add` at the final path, killed: no files, no index, its lock still there.
    () => {
      rmSync(join(at.path, "a.txt"));
      rmSync(join(at.path, "d"), { recursive: true });
      unlinkSync(join(admin, "index"));
      writeFileSync(join(admin, "locked"), "initializing\n");
    },
    // Killed before it wrote HEAD.
    () => {
      rmSync(at.path, { recursive: true });
      mkdirSync(at.path);
      writeFileSync(join(at.path, ".git"), `gitdir: ${admin}\n`);
      for (const name of ["HEAD", "index", "commondir"]) unlinkSync(join(admin, name));
      writeFileSync(join(admin, "locked"), "initializing\n");
    },
    // Killed before it wrote anything of the folder.
    () => {
      rmSync(at.path, { recursive: true });
      unlinkSync(join(admin, "HEAD"));
      writeFileSync(join(admin, "locked"), "initializing\n");
    },
    // An empty folder of that name.
    () => {
      sh(at.root, "worktree", "remove", "--force", at.path);
      mkdirSync(at.path);
    },
    // The folder is gone, git still lists it, even as locked.
    () => {
      rmSync(at.path, { recursive: true });
      writeFileSync(join(admin, "locked"), "usb stick\n");
    },
  ];
  for (const leave of leftovers) {
    leave();
    expect(made(make(at))).toEqual(first);
    expect(portrait(at)).toEqual(whole);
  }
});

test("a registering that was killed leaves nothing of it in the user's repository", () => {
  const at = world();
  made(make(at));
  const entry = inspected(at).entry;
  if (entry === null) throw new Error("the tree is not registered");
  const half = join(entry.adminDir, ".tmp-0123456789ab");
  writeFileSync(half, "half");
  made(make(at));
  expect(existsSync(half)).toBe(false);
});

test("a missing tree of somebody else's stays registered", () => {
  const at = world();
  const theirs = join(tempFolder(), "theirs");
  sh(at.root, "worktree", "add", "-q", "--detach", theirs);
  rmSync(theirs, { recursive: true });
  made(make(at));
  expect(whyNot(remove(at))).toBe("removed");
  expect(sh(at.root, "worktree", "list")).toContain(theirs);
});

test("making never overwrites: other work, a foreign folder, a lock and a link are refused and left as they are", () => {
  const at = world();
  made(make(at));
  write(at.path, "a.txt", "agent's work\n");
  expect(codeOf(make(at))).toBe("tree.differs");
  expect(readFileSync(join(at.path, "a.txt"), "utf8")).toBe("agent's work\n");
  write(at.path, "a.txt", "a\n");
  sh(at.path, "commit", "-q", "--allow-empty", "-m", "agent's");
  expect(codeOf(make(at))).toBe("tree.differs");
  sh(at.root, "worktree", "lock", at.path);
  expect(codeOf(make(at))).toBe("tree.locked");
  const second = { ...at, path: join(at.runDir, "worktree", "e2") };
  write(second.path, "user's", "1");
  expect(codeOf(make(second))).toBe("tree.occupied");
  const third = { ...at, path: join(at.runDir, "worktree", "e3") };
  symlinkSync(second.path, third.path);
  expect(codeOf(make(third))).toBe("tree.foreign");
  expect(fs.readdirSync(second.path)).toEqual(["user's"]);
});

test("a tree is made and removed in a bare repository, a shallow clone, a sparse checkout and from a linked tree", () => {
  const origin = world({ "in/a": "1", "out/b": "2" });
  const bare = join(tempFolder(), "b.git");
  sh(origin.root, "clone", "-q", "--bare", origin.root, bare);
  const linked = join(tempFolder(), "linked");
  sh(bare, "worktree", "add", "-q", "--detach", linked);
  const shallow = join(tempFolder(), "shallow");
  sh(origin.root, "clone", "-q", "--depth=1", `file://${origin.root}`, shallow);
  const sparse = world({ "in/a": "1", "out/b": "2" });
  sh(sparse.root, "sparse-checkout", "set", "in");
  for (const at of [worldAt(linked, bare), worldAt(shallow, join(shallow, ".git")), sparse]) {
    const { tree } = at.snapshots.take(at.root);
    made(make(at, sh(at.root, "rev-parse", "HEAD"), tree));
    expect(contents(at.path)).toEqual({ "in/a": "- 1", "out/b": "- 2" });
    expect(sh(at.path, "status", "--porcelain")).toBe("");
    expect(whyNot(remove(at))).toBe("removed");
  }
  expect(existsSync(join(sparse.root, "out"))).toBe(false);
});

test("a CRLF tree under core.autocrlf=true is made with its bytes and counts as clean for git", () => {
  const at = world();
  sh(at.root, "config", "core.autocrlf", "true");
  write(at.root, "a.txt", "a\r\n");
  made(make(at, undefined, at.snapshots.take(at.root).tree));
  expect(contents(at.path)["a.txt"]).toBe("- a\r\n");
  expect(sh(at.path, "status", "--porcelain")).toBe("");
});

test("an unpopulated submodule is no difference and no obstacle; a populated one keeps the tree", () => {
  const inner = world({ x: "1" });
  const at = world();
  sh(at.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.root, "sub");
  sh(at.root, "commit", "-qm", "sub");
  made(make(at));
  expect(sh(at.path, "status", "--porcelain")).toBe("");
  sh(at.path, "-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init");
  write(at.path, "sub/dirty", "1");
  expect(whyNot(remove(at))).toBe('it holds other repositories: "sub"');
  expect(whyNot(remove(at, kept(at)))).toBe('it holds other repositories: "sub"');
  expect(existsSync(join(at.path, "sub/dirty"))).toBe(true);
});

test("a clean tree whose HEAD another ref reaches is removed; twice is once", () => {
  const at = world({ ".gitignore": "*.log\n", a: "1" });
  make(at);
  write(at.path, "x.log", "ignored");
  expect(whyNot(remove(at))).toBe("removed");
  expect(existsSync(at.path)).toBe(false);
  expect(existsSync(join(at.commonDir, "worktrees"))).toBe(false);
  expect(whyNot(remove(at))).toBe("removed");
});

const loseable: readonly [string, (at: World) => void, string][] = [
  ["a changed file", (at) => write(at.path, "a.txt", "2"), 'it holds files that are not kept: "a.txt"'],
  ["an untracked file", (at) => write(at.path, "new", "2"), 'it holds files that are not kept: "new"'],
  ["a changed mode", (at) => chmodSync(join(at.path, "a.txt"), 0o755), 'it holds files that are not kept: "a.txt"'],
  [
    "an unreferenced commit",
    (at) => sh(at.path, "commit", "-q", "--allow-empty", "-m", "x"),
    "its commits are not reachable from another ref",
  ],
  [
    "staged content",
    (at) => {
      write(at.path, "a.txt", "2");
      sh(at.path, "add", "a.txt");
      write(at.path, "a.txt", "a\n");
    },
    "it holds staged content that is not kept",
  ],
  [
    "an ignored repository",
    (at) => {
      write(at.path, ".gitignore", "r/\n");
      sh(at.path, "add", ".gitignore");
      mkdirSync(join(at.path, "r"));
      sh(join(at.path, "r"), "init", "-q");
    },
    'it holds other repositories: "r"',
  ],
  [
    "a broken repository",
    (at) => {
      write(at.path, "r/.git/notes", "1");
      write(at.path, "r/x", "1");
    },
    'it holds other repositories: "r"',
  ],
  ["a ledger", (at) => write(at.path, ".atlas/.gitignore", "*\n"), "it holds an .atlas folder"],
];

test.each(loseable)("a tree with %s is not removed without being kept", (_, spoil, why) => {
  const at = world();
  make(at);
  spoil(at);
  const before = contents(at.path);
  expect(whyNot(remove(at))).toBe(why);
  expect(contents(at.path)).toEqual(before);
  expect(inspected(at).is).toBe("ours");
});

test.each(loseable.slice(0, 5))("a tree with %s is removed once it is kept", (_, spoil) => {
  const at = world();
  make(at);
  spoil(at);
  expect(whyNot(remove(at, kept(at)))).toBe("removed");
});

test("what was written after the keeping keeps the tree", () => {
  const at = world();
  make(at);
  write(at.path, "new", "1");
  const ref = kept(at);
  write(at.path, "new", "2");
  expect(whyNot(remove(at, ref))).toBe('it holds files that are not kept: "new"');
  expect(whyNot(remove(at, "refs/atlas/run-1/e1/kept/none/worktree"))).toBe("it is not kept under a ref");
});

test("a removal that was killed halfway is finished by the next, its .git file gone or not", () => {
  for (const taken of [["a.txt"], ["a.txt", ".git"], ["d", ".git"]]) {
    const at = world();
    make(at);
    writeFileSync(Buffer.concat([Buffer.from(`${at.path}/bad-`), Buffer.from([0xff])]), "raw");
    const ref = kept(at);
    for (const name of taken) rmSync(join(at.path, name), { recursive: true });
    expect(whyNot(remove(at, ref))).toBe("removed");
    expect(existsSync(at.path)).toBe(false);
    expect(sh(at.root, "worktree", "list").split("\n").length).toBe(1);
  }
});

test("killed before any of its effects, removing again removes", () => {
  const at = world();
  let keptRef = "";
  const prepare = () => {
    make(at);
    write(at.path, "new", "1");
    write(at.path, "deep/er", "1");
    keptRef = kept(at);
  };
  prepare();
  const act = (by: ReturnType<typeof stoppingBefore>) => {
    const snapshots = openSnapshots(by.git, by.fs, at.runDir, at.commonDir);
    expect(whyNot(removeTree(by.git, by.fs, snapshots, { path: at.path, commonDir: at.commonDir, keptRef }))).toBe(
      "removed",
    );
  };
  const after = () => {
    expect(existsSync(at.path)).toBe(false);
    expect(sh(at.root, "worktree", "list").split("\n").length).toBe(1);
    prepare();
  };
  expect(killedEverywhere(act, after)).toBeGreaterThan(10);
}, 120_000);

test("the user's trees, locked ones and plain folders are reported and left", () => {
  const at = world();
  expect(whyNot(removeTree(git, fs, at.snapshots, { path: at.root, commonDir: at.commonDir }))).toBe(
    "the main working tree",
  );
  make(at);
  sh(at.root, "worktree", "lock", "--reason", "mine", at.path);
  expect(whyNot(remove(at))).toBe("locked: mine");
  const plain = { ...at, path: join(at.runDir, "plain") };
  write(plain.path, "x", "1");
  expect(whyNot(remove(plain))).toBe("a folder that is no working tree");
  expect(existsSync(join(plain.path, "x")) && existsSync(join(at.path, "a.txt"))).toBe(true);
});

test("a tree is renamed to the new epoch's name with its work, once, also when killed in between", () => {
  const at = world();
  make(at);
  write(at.path, "new", "1");
  const to = join(dirname(at.path), "e2");
  renameSync(at.path, to);
  expect(moveTree(git, fs, at, to).ok).toBe(true);
  expect(moveTree(git, fs, at, to).ok).toBe(true);
  expect(sh(at.root, "worktree", "list")).toContain(to);
  expect(sh(to, "status", "--porcelain")).toBe("?? new");
  make(at);
  expect(codeOf(moveTree(git, fs, at, to))).toBe("tree.occupied");
  expect(codeOf(moveTree(git, fs, { ...at, path: at.root }, join(at.runDir, "x")))).toBe("tree.foreign");
});
