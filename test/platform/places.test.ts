import { execFileSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { findPlaces, type Place, placesAt } from "../../scripts/platform/places.ts";
import { tempFolder } from "../support/temp.ts";

const uid = process.getuid?.() ?? null;

function find(cwd: string, home: string | null = null) {
  return findPlaces(realFileSystem, cwd, { home, uid });
}

function roots(cwd: string, home: string | null = null): readonly string[] {
  return find(cwd, home).places.map((place) => place.root);
}

function git(cwd: string, ...argv: string[]): string {
  return execFileSync("git", argv, { cwd, encoding: "utf8" }).trim();
}

function repository(name = "repo"): string {
  const root = join(tempFolder(), name);
  mkdirSync(root, { recursive: true });
  git(root, "init", "-q");
  return root;
}

function committed(root: string): string {
  git(root, "commit", "-q", "--allow-empty", "-m", "first");
  return root;
}

function withAtlas(root: string): string {
  mkdirSync(join(root, ".atlas"), { recursive: true });
  return root;
}

function below(root: string, path: string): string {
  const folder = join(root, path);
  mkdirSync(folder, { recursive: true });
  return folder;
}

describe("in a repository", () => {
  test("a run is found from a subfolder, on an unborn branch, without git", () => {
    const root = withAtlas(repository());
    const cwd = below(root, "packages/a/b");
    expect(roots(cwd)).toEqual([root]);
    expect(find(cwd).repository).toEqual({ topLevel: root, commonDir: join(root, ".git"), mainRoot: root });
  });

  test("cwd, worktree root and main root are joined, nearest first", () => {
    const root = withAtlas(committed(repository()));
    const linked = withAtlas(join(root, "..", "linked"));
    rmSync(linked, { recursive: true });
    git(root, "worktree", "add", "-q", linked);
    withAtlas(linked);
    const cwd = withAtlas(below(linked, "sub"));
    expect(roots(cwd)).toEqual([cwd, realpathSync(linked), root]);
    expect(find(cwd).repository).toMatchObject({ commonDir: join(root, ".git"), mainRoot: root });
    expect(find(cwd).searched).toEqual([cwd, realpathSync(linked), root]);
  });

  test.each(["plain", `a b "c" 'd' $e ü`])("what is found agrees with git itself: %s", (name) => {
    const root = committed(repository(name));
    const linked = join(root, "..", `linked ${name}`);
    git(root, "worktree", "add", "-q", "-b", "linked", linked);
    for (const cwd of [below(root, "s"), below(linked, "s")]) {
      expect(find(cwd).repository).toMatchObject({
        topLevel: git(cwd, "rev-parse", "--show-toplevel"),
        commonDir: git(cwd, "rev-parse", "--path-format=absolute", "--git-common-dir"),
      });
    }
  });

  test("one folder reached twice is one place", () => {
    const root = withAtlas(repository());
    expect(find(root).places).toEqual([{ root, atlas: join(root, ".atlas"), trusted: true }]);
  });

  test("a linked cwd counts as what it leads to", () => {
    const root = withAtlas(repository());
    const link = join(root, "..", "link");
    symlinkSync(below(root, "sub"), link);
    expect(roots(link)).toEqual([root]);
  });

  test("nothing above the repository is looked at, not even where .git leads nowhere", () => {
    const outer = withAtlas(tempFolder());
    const inner = below(outer, "inner");
    git(inner, "init", "-q");
    const broken = below(outer, "broken");
    writeFileSync(join(broken, ".git"), "gitdir: ../gone\n");
    expect(roots(below(inner, "a"))).toEqual([]);
    expect(roots(below(broken, "a"))).toEqual([]);
    expect(find(broken).repository).toEqual({ topLevel: broken, commonDir: null, mainRoot: null });
  });

  test("an empty .git folder is no repository, as for git", () => {
    const root = withAtlas(repository());
    const cwd = below(root, "sub");
    mkdirSync(join(cwd, ".git"));
    expect(roots(cwd)).toEqual([root]);
  });

  test("GIT_DIR in the environment changes nothing", () => {
    const root = withAtlas(repository());
    process.env.GIT_DIR = "/nonexistent";
    try {
      expect(roots(root)).toEqual([root]);
    } finally {
      delete process.env.GIT_DIR;
    }
  });

  test("a bare repository has no main worktree; its linked worktrees are searched", () => {
    const source = committed(repository());
    const bare = join(source, "..", "bare.git");
    git(source, "clone", "-q", "--bare", source, bare);
    expect(find(bare).repository).toEqual({ topLevel: null, commonDir: bare, mainRoot: null });
    const linked = join(source, "..", "linked");
    git(bare, "worktree", "add", "-q", linked);
    withAtlas(linked);
    expect(roots(below(linked, "a"))).toEqual([linked]);
    expect(find(linked).repository).toEqual({ topLevel: linked, commonDir: bare, mainRoot: null });
  });

  test("a submodule is its own repository, and its linked worktree knows its root", () => {
    const library = committed(repository("library"));
    const root = withAtlas(committed(repository("root")));
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "sub");
    const module = join(root, "sub");
    expect(roots(module)).toEqual([]);
    expect(find(module).repository).toMatchObject({ topLevel: module, mainRoot: module });
    const linked = join(root, "..", "linked");
    git(module, "worktree", "add", "-q", linked);
    expect(find(linked).repository?.mainRoot).toBe(module);
  });

  test("a separate git folder: the worktree is its own main root", () => {
    const root = below(tempFolder(), "root");
    git(root, "init", "-q", "--separate-git-dir", join(root, "..", "elsewhere"));
    withAtlas(root);
    expect(roots(below(root, "a"))).toEqual([root]);
  });

  test("more than forty parents up is out of reach", () => {
    const root = withAtlas(repository());
    expect(roots(below(root, Array.from({ length: 40 }, () => "d").join("/")))).toEqual([root]);
    expect(roots(below(root, Array.from({ length: 41 }, () => "d").join("/")))).toEqual([]);
  });
});

describe("outside git", () => {
  /** A folder with no repository above it. */
  function plain(): string {
    return tempFolder();
  }

  test("the nearest parent with an .atlas is taken, and only it", () => {
    const root = withAtlas(plain());
    const near = withAtlas(below(root, "a"));
    expect(roots(below(near, "b/c"))).toEqual([near]);
    expect(find(near).repository).toBeNull();
  });

  test("home bounds the search, and is still in it", () => {
    const outer = withAtlas(plain());
    const home = below(outer, "home");
    expect(roots(below(home, "work"), home)).toEqual([]);
    withAtlas(home);
    expect(roots(below(home, "work"), home)).toEqual([home]);
  });

  test("another user's .atlas further up is passed over", () => {
    const root = withAtlas(plain());
    const far = withAtlas(below(root, "far"));
    const cwd = below(far, "a");
    expect(findPlaces(realFileSystem, cwd, { home: null, uid: (uid ?? 0) + 1 }).places).toEqual([]);
    if (uid !== 0) return;
    chownSync(join(far, ".atlas"), 12345, 12345);
    expect(roots(cwd)).toEqual([root]);
  });

  test("a cwd that does not exist, or is relative, has no place", () => {
    expect(find("/nonexistent/x")).toEqual({ places: [], repository: null, searched: [] });
    expect(find("x").places).toEqual([]);
  });
});

describe("what is not a folder of ours is reported, never entered", () => {
  const ways: readonly (readonly [string, (path: string) => void, Place["why"]])[] = [
    ["a link", (path) => symlinkSync(mkdtempSync(join(tmpdir(), "atlas-test-")), path), "a link"],
    ["a broken link", (path) => symlinkSync("/nonexistent", path), "a link"],
    ["a file", (path) => writeFileSync(path, ""), "not a folder"],
    ["a FIFO", (path) => execFileSync("mkfifo", [path]), "not a folder"],
  ];

  test.each(ways)("%s", (_name, prepare, why) => {
    for (const root of [repository(), tempFolder()]) {
      prepare(join(root, ".atlas"));
      expect(find(root).places).toEqual([{ root, atlas: join(root, ".atlas"), trusted: false, why }]);
    }
  });

  test("another user's", () => {
    const root = withAtlas(repository());
    const { places } = findPlaces(realFileSystem, root, { home: null, uid: (uid ?? 0) + 1 });
    expect(places).toMatchObject([{ root, trusted: false, why: "another user's" }]);
  });
});

test("a path of another case is the same place where the file system knows no case, and two places where it does", () => {
  const root = withAtlas(join(tempFolder(), "project"));
  const other = root.replace(/project$/, "PROJECT");
  const caseless = {
    ...realFileSystem,
    lstatSync: (path: string) => realFileSystem.lstatSync(path.replace("PROJECT", "project")),
  };
  expect(placesAt(caseless, [other, root], uid).map((place) => place.root)).toEqual([other]);
  withAtlas(other);
  expect(placesAt(realFileSystem, [other, root], uid)).toHaveLength(2);
});
