/** What a cleaning takes, and what it may never take: real ledgers, real repositories, real trees. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { LINE_VERSION, NO_SUM, sealLine } from "../../scripts/core/line.ts";
import { type Cleaned, type CleanWish, clean } from "../../scripts/engine/clean.ts";
import type { Engine } from "../../scripts/engine/context.ts";
import { wordNonce } from "../../scripts/engine/human.ts";
import { loadRun, type RunFolder } from "../../scripts/engine/ledger.ts";
import { othersLive } from "../../scripts/engine/other-processes.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { keepTree } from "../../scripts/platform/keep.ts";
import { openSnapshots } from "../../scripts/platform/snapshot.ts";
import { makeTree } from "../../scripts/platform/worktree-make.ts";
import { fingerprint } from "../support/adopted-world.ts";
import { type EngineWorld, engineWorld, writeRun } from "../support/engine-world.ts";
import { claimedEvent, type goneOwner, ownerOf, RUN } from "../support/ledger.ts";
import { gitIn } from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

const alone = (): boolean => false;

function cleaned(world: EngineWorld, wish: Partial<CleanWish> = {}, others: () => boolean | null = alone): Cleaned {
  const done = clean(world.engine, { dryRun: false, dropKept: null, ...wish }, others);
  if (!done.ok) throw new Error(`${done.error.code}: ${done.error.reason}`);
  return done.value;
}

const wanted = (name: string, foreign = false) => ({ type: "tree-wanted", name, from: null, foreign });
const ready = (name: string) => ({ type: "tree-ready", name });
const staled = (name: string) => ({ type: "tree-staled", name });
const kept = (name: string, ref: string) => ({ type: "tree-kept", name, ref, ignored: 0 });

/** A finished run (unless told otherwise) whose tree `e1.1` stands at the project's HEAD. */
function runWithTree(world: EngineWorld, more: Partial<Parameters<typeof writeRun>[1]> = {}) {
  const folder = writeRun(world, { events: [wanted("e1.1"), ready("e1.1")], ended: true, ...more });
  const path = join(folder.ledger, "worktree", "e1.1");
  stand(world, folder, path);
  return { folder, path };
}

function stand(world: EngineWorld, folder: RunFolder, path: string): void {
  const { git, fs } = world.engine;
  const snapshots = openSnapshots(git, fs, folder.ledger, world.commonDir);
  const base = gitIn(world.project, "rev-parse", "HEAD");
  const made = makeTree(git, fs, snapshots, { path, commonDir: world.commonDir, base });
  if (!made.ok) throw new Error(made.error.reason);
}

function keep(world: EngineWorld, folder: RunFolder, path: string, name = "e1.1"): string {
  const { git, fs } = world.engine;
  const snapshots = openSnapshots(git, fs, folder.ledger, world.commonDir);
  const refPrefix = `refs/atlas/${folder.id}/e1/kept/${name}`;
  const done = keepTree(git, fs, snapshots, { path, commonDir: world.commonDir, refPrefix, performerGone: true });
  if (!done.ok) throw new Error(done.error.reason);
  return done.value.worktree.ref;
}

const refsOf = (world: EngineWorld) => gitIn(world.project, "for-each-ref", "--format=%(refname)").split("\n");
const treesOf = (world: EngineWorld) => gitIn(world.project, "worktree", "list", "--porcelain").match(/^worktree /gm);
const whyOf = (done: Cleaned, path: string) => done.kept.find((left) => left.path === path)?.why;

/** Everything but what git itself rewrites while it only looks. */
const everything = (world: EngineWorld) => fingerprint(join(world.project, ".."), ["index"]);

describe("a finished run's trees", () => {
  test("a clean one whose HEAD a branch reaches goes, a dry run says so beforehand and changes nothing, twice is once", () => {
    const world = engineWorld("atlas $clean ä'-");
    const { folder, path } = runWithTree(world);
    rmSync(join(folder.ledger, "git"), { recursive: true });
    const before = everything(world);
    const foretold = cleaned(world, { dryRun: true });
    expect(everything(world)).toEqual(before);
    const done = cleaned(world);
    expect(foretold).toEqual(done);
    expect(done).toEqual({ removed: [path], kept: [], dropped: [] });
    expect(existsSync(path)).toBe(false);
    expect(treesOf(world)).toHaveLength(1);
    expect(existsSync(join(folder.ledger, "log.jsonl"))).toBe(true);
    expect(cleaned(world)).toEqual({ removed: [], kept: [], dropped: [] });
  });

  test.each([
    ["a changed file", (path: string) => writeFileSync(join(path, "a.txt"), "other\n")],
    ["a new file", (path: string) => writeFileSync(join(path, "new.txt"), "new\n")],
    [
      "staged content",
      (path: string) => {
        writeFileSync(join(path, "a.txt"), "staged\n");
        gitIn(path, "add", "a.txt");
        writeFileSync(join(path, "a.txt"), "a\n");
      },
    ],
    [
      "a commit no ref reaches",
      (path: string) => {
        writeFileSync(join(path, "a.txt"), "mine\n");
        gitIn(path, "commit", "-qam", "mine");
      },
    ],
    [
      "a repository of its own inside",
      (path: string) => {
        mkdirSync(join(path, "inner"));
        gitIn(join(path, "inner"), "init", "-q", ".");
      },
    ],
    ["a lock", (path: string) => gitIn(path, "worktree", "lock", "--reason", "do as I say", path)],
  ])("one with %s is left as it is and named", (_, change) => {
    const world = engineWorld();
    const { path } = runWithTree(world);
    change(path);
    const before = fingerprint(path);
    const done = cleaned(world);
    expect(done.removed).not.toContain(path);
    expect(whyOf(done, path)).toMatch(/^(it holds|its commits|locked)/);
    expect(whyOf(done, path)).not.toContain("do as I say");
    expect(fingerprint(path)).toEqual(before);
    expect(cleaned(world, { dryRun: true }).kept).toEqual(done.kept);
  });

  test("a dirty one goes when a ref of ours keeps exactly its content, and not for a ref that keeps less", () => {
    const world = engineWorld();
    const { folder, path } = runWithTree(world);
    writeFileSync(join(path, "new.txt"), "one\n");
    const ref = keep(world, folder, path);
    writeFileSync(join(path, "more.txt"), "two\n");
    expect(whyOf(cleaned(world), path)).toBe("it holds files that are not kept");
    rmSync(join(path, "more.txt"));
    expect(cleaned(world).removed).toContain(path);
    expect(existsSync(path)).toBe(false);
    expect(gitIn(world.project, "show", `${ref}:new.txt`)).toBe("one");
  });

  test("a tree of another repository, a link and a folder nobody recorded are left and named", () => {
    const world = engineWorld();
    const other = engineWorld();
    const events = [wanted("e1.1"), ready("e1.1"), wanted("e1.2"), ready("e1.2")];
    const folder = writeRun(world, { events, ended: true });
    const trees = join(folder.ledger, "worktree");
    mkdirSync(trees, { recursive: true });
    gitIn(other.project, "worktree", "add", "-q", "--detach", join(trees, "e1.1"));
    symlinkSync(other.project, join(trees, "e1.2"));
    mkdirSync(join(trees, "mine"));
    const before = fingerprint(trees);
    const done = cleaned(world);
    expect(done.removed).toEqual([]);
    expect(done.kept.map(({ path }) => path)).toEqual(["e1.1", "e1.2", "mine"].map((name) => join(trees, name)));
    expect(fingerprint(trees)).toEqual(before);
    expect(existsSync(join(other.project, "a.txt"))).toBe(true);
  });

  test("a name that leads out of the run is no tree of ours", () => {
    const world = engineWorld();
    const outside = join(world.project, "outside");
    gitIn(world.project, "worktree", "add", "-q", "--detach", outside);
    writeRun(world, { events: [wanted("../../../outside"), ready("../../../outside")], ended: true });
    expect(cleaned(world).removed).toEqual([]);
    expect(existsSync(join(outside, "a.txt"))).toBe(true);
  });

  test("git's entry of a tree whose folder is gone goes, unless its HEAD is all that names its commits", () => {
    const world = engineWorld();
    const { path } = runWithTree(world);
    writeFileSync(join(path, "a.txt"), "mine\n");
    gitIn(path, "commit", "-qam", "mine");
    const commit = gitIn(path, "rev-parse", "HEAD");
    rmSync(path, { recursive: true });
    expect(whyOf(cleaned(world), path)).toBe("its commits are not reachable from another ref");
    gitIn(world.project, "branch", "saved", commit);
    expect(cleaned(world).removed).toContain(path);
    expect(treesOf(world)).toHaveLength(1);
  });

  test("while the performer of an effect lives, nothing of its run is touched", () => {
    const world = engineWorld();
    const performer = ownerOf(process.pid, null);
    const events = [
      wanted("e1.1"),
      ready("e1.1"),
      { type: "effect-began", key: "make-tree:e1.2", epoch: 1, performer: { ...performer } },
    ];
    const { folder, path } = runWithTree(world, { events });
    expect(whyOf(cleaned(world), folder.ledger)).toBe("effect.running");
    expect(existsSync(path)).toBe(true);
  });
});

describe("an unfinished run", () => {
  test("keeps its tree and its refs; only a tree recorded as kept or removed goes", () => {
    const world = engineWorld();
    const ref = `refs/atlas/${RUN}/e1/kept/e1.1/worktree`;
    const events = [wanted("e1.1"), ready("e1.1"), staled("e1.1"), kept("e1.1", ref), wanted("e1.2"), ready("e1.2")];
    const { folder, path } = runWithTree(world, { events, ended: false });
    const second = join(folder.ledger, "worktree", "e1.2");
    stand(world, folder, second);
    writeFileSync(join(path, "new.txt"), "one\n");
    expect(keep(world, folder, path)).toBe(ref);
    gitIn(world.project, "update-ref", `refs/atlas/${RUN}/e1/base`, "HEAD");
    const done = cleaned(world);
    expect(done.removed).toEqual([path]);
    expect(existsSync(second)).toBe(true);
    expect(refsOf(world)).toEqual([`refs/atlas/${RUN}/e1/base`, ref, "refs/heads/main"]);
    expect(existsSync(join(folder.ledger, "git"))).toBe(true);
  });

  test("a ledger that git tracks is another's: nothing it names is touched", () => {
    const world = engineWorld();
    const { folder, path } = runWithTree(world);
    gitIn(world.project, "add", "-f", join(folder.ledger, "log.jsonl"));
    expect(whyOf(cleaned(world), folder.ledger)).toBe("ledger.unreadable");
    expect(existsSync(path)).toBe(true);
  });
});

describe("refs and branches", () => {
  test("refs that keep stay, others of a finished run go, and nobody else's are looked at", () => {
    const world = engineWorld();
    const { folder, path } = runWithTree(world);
    const ref = keep(world, folder, path);
    for (const name of [`refs/atlas/${RUN}/e1/base`, "refs/atlas/other/e1/base"]) {
      gitIn(world.project, "update-ref", name, "HEAD");
    }
    const done = cleaned(world);
    expect(done.removed).toContain(`refs/atlas/${RUN}/e1/base`);
    expect(refsOf(world)).toEqual(["refs/atlas/other/e1/base", ref, "refs/heads/main"].sort());
  });

  test("a tree whose HEAD only a ref reaches that goes is left: no commit loses its last name", () => {
    const world = engineWorld();
    const { path } = runWithTree(world);
    writeFileSync(join(path, "a.txt"), "mine\n");
    gitIn(path, "commit", "-qam", "mine");
    gitIn(path, "update-ref", `refs/atlas/${RUN}/e1/work`, "HEAD");
    const foretold = cleaned(world, { dryRun: true });
    const done = cleaned(world);
    expect(foretold).toEqual(done);
    expect(whyOf(done, path)).toBe("its commits are not reachable from another ref");
    expect(gitIn(path, "show", "HEAD:a.txt")).toBe("mine");
  });

  test("a branch of an adopted run goes with its tree when another ref reaches its commits, and stays otherwise", () => {
    for (const reached of [true, false]) {
      const world = engineWorld();
      const folder = writeRun(world, { id: "orig-1", adopted: true, events: [wanted("worktree", true)], ended: true });
      const path = join(world.atlas, "orig-1", "worktree");
      gitIn(world.project, "worktree", "add", "-q", "-b", "atlas/orig-1", path);
      gitIn(world.project, "branch", "atlas/orig-10");
      writeFileSync(join(path, "a.txt"), "done\n");
      gitIn(path, "commit", "-qam", "done");
      if (reached) gitIn(world.project, "branch", "merged", "atlas/orig-1");
      const foretold = cleaned(world, { dryRun: true });
      const done = cleaned(world);
      expect(foretold).toEqual(done);
      expect(done.removed).toEqual(reached ? [path, "refs/heads/atlas/orig-1"] : [path]);
      expect(refsOf(world)).toContain("refs/heads/atlas/orig-10");
      expect(existsSync(join(folder.ledger, "log.jsonl"))).toBe(true);
      if (!reached) expect(gitIn(world.project, "show", "atlas/orig-1:a.txt")).toBe("done");
    }
  });
});

describe("--drop-kept", () => {
  function keptRun(ended: boolean) {
    const world = engineWorld();
    const ref = `refs/atlas/${RUN}/e1/kept/e1.1/worktree`;
    const events = [wanted("e1.1"), ready("e1.1"), staled("e1.1"), kept("e1.1", ref)];
    const { folder, path } = runWithTree(world, { ended, events });
    writeFileSync(join(path, "new.txt"), "one\n");
    expect(keep(world, folder, path)).toBe(ref);
    return { world, folder, path, ref };
  }
  const asked = (world: EngineWorld, dryRun = false) => clean(world.engine, { dryRun, dropKept: RUN }, alone);

  test("without the human's word it drops nothing and says what to type; with it, exactly the kept refs go", () => {
    const { world, folder, path, ref } = keptRun(true);
    const refused = asked(world);
    expect(refused.ok ? null : refused.error.code).toBe("gate.unattested");
    expect(refsOf(world)).toContain(ref);
    expect(existsSync(path)).toBe(true);

    const read = loadRun(realFileSystem, folder);
    if (!read.ok) throw new Error("unreadable");
    const nonce = wordNonce(read.loaded.state.head, RUN, "drop-kept");
    expect(refused.ok ? null : refused.error.fix).toBe(`atlas ${nonce} drop-kept`);
    writeFileSync(
      join(folder.ledger, "observed.jsonl"),
      `\n${JSON.stringify({ v: 1, type: "typed", nonce, choice: "drop-kept", host: "claude", session: "s" })}\n`,
    );
    const foretold = asked(world, true);
    expect(refsOf(world)).toContain(ref);
    const done = asked(world);
    expect(done).toEqual(foretold);
    expect(done.ok ? done.value.dropped : null).toEqual([ref]);
    expect(refsOf(world)).toEqual(["refs/heads/main"]);
    // What the refs kept is not kept any more: the tree that still holds it stays.
    expect(done.ok ? whyOf(done.value, path) : null).toBe("it holds files that are not kept");
    expect(readFileSync(join(path, "new.txt"), "utf8")).toBe("one\n");
  });

  test("an unfinished run's kept refs are not dropped, whatever was typed", () => {
    const { world, ref } = keptRun(false);
    const refused = asked(world);
    expect(refused.ok ? null : refused.error.code).toBe("clean.unfinished");
    expect(refsOf(world)).toContain(ref);
  });
});

describe("leftovers of killed writers", () => {
  function birth(world: EngineWorld, name: string, owner: ReturnType<typeof goneOwner> | null, pid: number): string {
    const path = join(world.atlas, name);
    mkdirSync(join(path, "artifacts"), { recursive: true });
    if (owner !== null) {
      const events = [{ type: "born", kind: "change" }, claimedEvent(owner)];
      const by = { verb: "start", pid, session: null, epoch: 1 };
      const ts = "2026-11-30T19:00:00.000Z";
      const line = sealLine({ v: LINE_VERSION, seq: 1, prev: NO_SUM, ts, run_id: RUN, by, events }, sha256);
      writeFileSync(join(path, "log.jsonl"), `\n${line.text}\n`);
    }
    return path;
  }

  test("a birth goes when its maker is provably gone, and stays when it lives or was another machine's", () => {
    const world = engineWorld();
    const here = ownerOf(process.pid, null);
    const dead = birth(world, ".new-aa", here, 2 ** 22 + 7);
    const living = birth(world, ".new-bb", here, process.pid);
    const away = birth(world, ".new-cc", { ...here, machine: "f".repeat(64) }, 2 ** 22 + 7);
    const done = cleaned(world);
    expect(done.removed).toEqual([dead]);
    expect(done.kept).toEqual([
      { path: living, why: "its maker may live" },
      { path: away, why: "its maker may live" },
    ]);
    expect(readdirSync(world.atlas).filter((name) => name.startsWith(".new-"))).toEqual([".new-bb", ".new-cc"]);
  });

  test("a birth without a line and a temporary file go only when no other atlas process can be making them", () => {
    const world = engineWorld();
    const folder = writeRun(world);
    const half = birth(world, ".new-aa", null, 0);
    const file = join(folder.ledger, ".tmp-0123456789ab");
    writeFileSync(file, "half");
    writeFileSync(join(folder.ledger, ".tmp-notes"), "the user's own");
    expect(cleaned(world, {}, () => true).removed).toEqual([]);
    expect(cleaned(world, {}, () => null).removed).toEqual([]);
    expect([existsSync(half), existsSync(file)]).toEqual([true, true]);
    expect(cleaned(world).removed).toEqual([half, file]);
    expect(readdirSync(folder.ledger)).toEqual([".tmp-notes", "log.jsonl"]);
  });

  test("what killed writers left anywhere below a run, beside its ids and sessions, goes; the trees of a run are not looked into", () => {
    const world = engineWorld();
    const folder = writeRun(world);
    const left = [
      join(world.atlas, ".starts", ".tmp-0123456789ab"),
      join(folder.ledger, "artifacts", "command.0", "e1.a1.01234567.job.json"),
      join(folder.ledger, "packets", "coder.1.1", ".tmp-0123456789ab"),
      join(folder.ledger, "packets", "coder.1.1", "scout", ".tmp-0123456789ab"),
      join(world.state, "sessions", "s.json.77-1-2"),
    ];
    const stays = [
      join(folder.ledger, "worktree", "e1.1", ".tmp-0123456789ab"),
      join(folder.ledger, "git", "objects", "ab", ".tmp-0123456789ab"),
      join(folder.ledger, "artifacts", "command.0", "e1.a1.01234567.log"),
    ];
    for (const path of [...left, ...stays]) {
      mkdirSync(join(path, ".."), { recursive: true });
      writeFileSync(path, "half");
    }
    expect(cleaned(world, {}, () => true).removed).toEqual([]);
    expect([...cleaned(world).removed].sort()).toEqual([...left].sort());
    expect(stays.every((path) => existsSync(path))).toBe(true);
  });

  test("a place a killed cleaning looked in goes once that process is gone", () => {
    const world = engineWorld();
    const places = tempFolder();
    const { TMPDIR } = process.env;
    process.env.TMPDIR = places;
    onTestFinished(() => {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    });
    const names = [`atlas-look-${2 ** 22 + 7}-Ab12Cd`, `atlas-look-${process.pid}-Ab12Cd`, "atlas-look-notes"];
    for (const name of names) mkdirSync(join(places, name, "git"), { recursive: true });
    expect(cleaned(world, {}, () => true).removed).toEqual([]);
    expect(cleaned(world).removed).toEqual([join(places, names[0] as string)]);
    expect(readdirSync(places).sort()).toEqual([...names.slice(1)].sort());
  });

  test.runIf(process.platform === "linux")("another process that runs atlas is seen as long as it lives", async () => {
    const world = engineWorld();
    mkdirSync(join(world.project, "dist"));
    const script = join(world.project, "dist", "atlas.cjs");
    writeFileSync(script, 'process.stdout.write("up"); process.stdin.resume();');
    const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(othersLive(world.engine.processes, process.pid)).toBe(true);
    // It is the only other one from where it sits: its own look does not count itself.
    expect(
      othersLive({ ...world.engine.processes, look: (pid) => only(world.engine, pid, child.pid) }, child.pid ?? 0),
    ).toBe(false);
  });

  test("a record of an ended session goes when its process is gone; a living or unended one stays", () => {
    const world = engineWorld();
    const sessions = join(world.state, "sessions");
    const marks = join(world.state, "by-process");
    mkdirSync(sessions, { recursive: true });
    const here = ownerOf(process.pid, null);
    const record = (session: string, pid: number, start: string, ended: boolean) => {
      const blank = { v: 1, host: "claude", cwd: "/", places: [], runs: [], compactions: 0, owed: false };
      writeFileSync(join(sessions, `${session}.json`), JSON.stringify({ ...blank, session, pid, start, ended }));
      mkdirSync(join(marks, String(pid)), { recursive: true });
      writeFileSync(join(marks, String(pid), session), "");
    };
    record("gone-ended", 2 ** 22 + 7, "1", true);
    record("gone-open", 2 ** 22 + 8, "1", false);
    record("here-ended", process.pid, here.start as string, true);
    record("reused-pid", process.pid, "1", true);
    const done = cleaned(world);
    expect(done.removed).toEqual(["gone-ended", "reused-pid"].map((name) => join(sessions, `${name}.json`)));
    expect(readdirSync(sessions)).toEqual(["gone-open.json", "here-ended.json"]);
    expect(readdirSync(marks)).toEqual([String(process.pid), String(2 ** 22 + 8)].sort());
    expect(readdirSync(join(marks, String(process.pid)))).toEqual(["here-ended"]);
  });
});

describe("a private store", () => {
  test("goes with a finished run that names nothing in it, and stays while the run's report rests on it", () => {
    for (const needed of [false, true]) {
      const world = engineWorld();
      const empty = writeRun(world, { events: [], ended: true });
      const store = openSnapshots(world.engine.git, world.engine.fs, empty.ledger, world.commonDir);
      writeFileSync(join(world.project, "a.txt"), "uncommitted\n");
      const { tree } = store.take(world.project);
      if (needed) writeRun(world, { events: [{ type: "based", tree }], ended: true });
      const done = cleaned(world);
      expect(done.removed.includes(store.gitDir)).toBe(!needed);
      expect(existsSync(store.gitDir)).toBe(needed);
    }
  });
});

describe("a cleaning that is killed", () => {
  test("before any of its changes can be repeated, a dry run foretells what is left to do, and it ends where an unbroken one ends", () => {
    let steps = Number.POSITIVE_INFINITY;
    for (let at = 1; at <= steps; at += 1) {
      const world = engineWorld();
      const { folder, path } = runWithTree(world);
      rmSync(join(folder.ledger, "git"), { recursive: true });
      gitIn(world.project, "update-ref", `refs/atlas/${RUN}/e1/base`, "HEAD");
      mkdirSync(join(world.atlas, ".new-aa"));
      const killed = killedBefore(world.engine, at);
      try {
        clean(killed.engine, { dryRun: false, dropKept: null }, alone);
        steps = killed.changes();
      } catch (error) {
        expect(String(error)).toContain("killed");
      }
      const foretold = cleaned(world, { dryRun: true });
      expect(cleaned(world), `killed before change ${at}`).toEqual(foretold);
      expect(existsSync(path), `killed before change ${at}`).toBe(false);
      expect(refsOf(world)).toEqual(["refs/heads/main"]);
      expect(treesOf(world)).toHaveLength(1);
      expect(readdirSync(world.atlas).sort()).toEqual([".finished", ".gitignore", RUN].sort());
    }
    expect(steps).toBeGreaterThan(5);
  });
});

/** Stops before the n-th change to the file system or the repository, as SIGKILL would. */
function killedBefore(engine: Engine, at: number) {
  let changes = 0;
  const step = <T>(act: () => T): T => {
    changes += 1;
    if (changes >= at) throw new Error("killed");
    return act();
  };
  const { fs, git } = engine;
  const changed: Engine = {
    ...engine,
    fs: {
      ...fs,
      renameSync: (from, to) =>
        from.includes("atlas-look-") ? fs.renameSync(from, to) : step(() => fs.renameSync(from, to)),
      unlinkSync: (path) => (path.includes("atlas-look-") ? fs.unlinkSync(path) : step(() => fs.unlinkSync(path))),
      rmdirSync: (path) => (path.includes("atlas-look-") ? fs.rmdirSync(path) : step(() => fs.rmdirSync(path))),
    },
    git: {
      run: (args, options) =>
        args[0] === "worktree" || args.includes("-d") ? step(() => git.run(args, options)) : git.run(args, options),
    },
  };
  return { engine: changed, changes: () => changes + 1 };
}

function only(engine: Engine, pid: number, self: number | undefined) {
  return pid === self ? engine.processes.look(pid) : null;
}
