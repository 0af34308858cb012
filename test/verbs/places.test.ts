import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, makePlace, type Place } from "../support/hostile-world.ts";
import { mending } from "../support/scripted-agents.ts";
import {
  builtPlugin,
  gitIn,
  makeWorld,
  type Plugin,
  request,
  scripted,
  sit,
  type World,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

/** A project with a commit, and beside it a packet. */
function project(name?: string, git: "committed" | "unborn" | "none" = "committed"): World & { readonly place: Place } {
  const folder = tempFolder(name);
  const home = join(folder, "home");
  mkdirSync(home);
  const world = makeWorld(plugin, folder, git);
  writeFileSync(join(folder, "packet.json"), JSON.stringify(request));
  const env = { HOME: home, XDG_STATE_HOME: join(home, "state") };
  return { ...world, place: { folder, project: world.project, atlas: join(world.project, ".atlas"), env } };
}

type Project = ReturnType<typeof project>;

const packetOf = (world: Project): string => join(world.place.folder, "packet.json");

function ask(world: Project, cwd: string, ...words: readonly string[]) {
  return call(plugin.cli, world.place, words, { cwd });
}

async function open(world: Project, cwd: string, ...more: readonly string[]): Promise<string> {
  const said = await ask(world, cwd, "start", "change", "--packet", packetOf(world), ...more);
  expect(said, said.stdout + said.stderr).toMatchObject({ code: 0 });
  return (said.told as { readonly run: { readonly id: string } }).run.id;
}

const runsIn = (root: string): readonly string[] =>
  existsSync(join(root, ".atlas")) ? readdirSync(join(root, ".atlas")).filter((name) => !name.startsWith(".")) : [];

/** Leads a headless run to its label and gives what it wrote. */
async function toItsEnd(world: Project, cwd: string): Promise<string> {
  const session = sit({ ...world, env: world.place.env }, { cwd });
  const begun = await session.run("start", "change", "--packet", packetOf(world), "--headless");
  const ended = await scripted(session, { agents: { coder: mending } }).go(begun);
  expect(ended.next, ended.stdout).toMatchObject({ do: "report", status: "unverified" });
  const { artifact } = ended.next as { readonly artifact: string };
  return readFileSync(artifact, "utf8");
}

const mended = "+module.exports = (a, b) => a + b;";

describe("a run is found and opened in one place", () => {
  test("from a subfolder: the repository's root", async () => {
    const world = project();
    const deep = join(world.project, "src", "a", "b");
    mkdirSync(deep, { recursive: true });
    const id = await open(world, deep);
    expect(runsIn(world.project)).toEqual([id]);
    expect(existsSync(join(deep, ".atlas"))).toBe(false);
    for (const cwd of [deep, world.project]) {
      expect((await ask(world, cwd, "status")).told).toMatchObject({ runs: [{ id, root: world.project }] });
    }
    expect(await ask(world, deep, "resume")).toMatchObject({ code: 0, told: { run: { id } } });
  });

  test("from a linked worktree: the main worktree's root, and the work is done in the linked one", async () => {
    const world = project();
    const linked = join(world.place.folder, "linked");
    gitIn(world.project, "worktree", "add", "-q", "-b", "side", linked);
    const id = await open(world, linked);
    expect([runsIn(world.project), runsIn(linked)]).toEqual([[id], []]);
    const born = readFileSync(join(world.project, ".atlas", id, "log.jsonl"), "utf8");
    expect(born).toContain(`"root":${JSON.stringify(world.project)},"top":${JSON.stringify(linked)}`);
    for (const cwd of [linked, world.project])
      expect((await ask(world, cwd, "status")).told).toMatchObject({ runs: [{ id }] });
    expect(gitIn(linked, "status", "--porcelain")).toBe("");
  });

  test("through a link, the folder is one place, not two", async () => {
    const world = project();
    const link = join(world.place.folder, "link");
    symlinkSync(world.project, link);
    const id = await open(world, join(link, "src"));
    for (const words of [["status"], ["status", "--cwd", join(link, "src")]]) {
      const said = await ask(world, link, ...words);
      expect(said.told).toMatchObject({ runs: [{ id, root: world.project }], places: [{ root: world.project }] });
      expect(said.told.places).toHaveLength(1);
    }
  });

  test.each(["a b", `it's "quoted"`, "pay $HOME $(id) `id`", "Größe-日本-é", "-n"])(
    "under %s: to its end, in a tree of its own",
    async (name) => {
      const world = project(`${name} `);
      expect(await toItsEnd(world, world.project)).toContain(mended);
      expect(readFileSync(join(world.project, "src", "add.js"), "utf8")).toContain("a - b");
      expect(gitIn(world.project, "status", "--porcelain")).toBe("");
    },
  );

  test("outside git: the cwd, and its subfolders find it; headless is refused with the reason", async () => {
    const world = project("plain-", "none");
    const inner = join(world.project, "src");
    const refused = await ask(world, inner, "start", "change", "--packet", packetOf(world), "--headless");
    expect(refused).toMatchObject({ code: 3, told: { refused: { code: "tree.no_git" } } });
    expect(runsIn(inner)).toEqual([]);
    const id = await open(world, world.project);
    expect(runsIn(world.project)).toEqual([id]);
    expect((await ask(world, inner, "status")).told).toMatchObject({ runs: [{ id, root: world.project }] });
    expect(await ask(world, inner, "resume")).toMatchObject({ code: 0, told: { run: { id } } });
    // A run found further up is used before another place is made.
    rmSync(join(world.project, ".atlas", id), { recursive: true });
    await open(world, inner);
    expect([runsIn(world.project).length, runsIn(inner).length]).toEqual([1, 0]);
  });

  test("outside git, a folder above HOME is nobody's", async () => {
    const world = project("plain-", "none");
    await open(world, world.project);
    const home = join(world.project, "home");
    mkdirSync(join(home, "work"), { recursive: true });
    const said = await call(plugin.cli, world.place, ["status"], { cwd: join(home, "work"), env: { HOME: home } });
    expect(said.told).toMatchObject({ runs: [], searched: [join(home, "work"), home] });
  });

  test("on an unborn branch: to its end, and nothing is committed", async () => {
    const world = project("unborn-", "unborn");
    const patch = await toItsEnd(world, world.project);
    expect(patch).toContain("a + b");
    expect(spawnSync("git", ["rev-parse", "--verify", "HEAD"], { cwd: world.project }).status).not.toBe(0);
  });

  test("a bare repository with a linked worktree: the linked worktree's root", async () => {
    const world = project();
    const bare = join(world.place.folder, "bare.git");
    const linked = join(world.place.folder, "linked");
    gitIn(world.place.folder, "clone", "-q", "--bare", world.project, bare);
    gitIn(bare, "worktree", "add", "-q", linked, "main");
    expect(await toItsEnd(world, linked)).toContain(mended);
    expect(runsIn(linked)).toHaveLength(1);
    expect([existsSync(join(bare, ".atlas")), runsIn(world.project)]).toEqual([false, []]);
    const inBare = await ask(world, bare, "status");
    expect(inBare).toMatchObject({ code: 0, told: { runs: [], searched: [bare] } });
  });

  test("GIT_DIR and its like in the environment lead nowhere else", async () => {
    const world = project();
    const other = project("other-");
    const env = {
      ...world.place.env,
      GIT_DIR: join(other.project, ".git"),
      GIT_WORK_TREE: other.project,
      GIT_INDEX_FILE: join(other.project, ".git", "index"),
    };
    const before = gitIn(other.project, "for-each-ref");
    expect(await toItsEnd({ ...world, place: { ...world.place, env } }, world.project)).toContain(mended);
    expect([runsIn(world.project).length, runsIn(other.project).length]).toEqual([1, 0]);
    expect([gitIn(other.project, "for-each-ref"), gitIn(other.project, "worktree", "list").split("\n").length]).toEqual(
      [before, 1],
    );
  });

  test("in a submodule: the submodule's root, never the repository around it", async () => {
    const world = project();
    const around = join(world.place.folder, "around");
    mkdirSync(around);
    gitIn(around, "init", "-q", ".");
    gitIn(around, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", world.project, "sub");
    gitIn(around, "commit", "-qm", "with a part");
    const sub = join(around, "sub");
    expect(await toItsEnd(world, join(sub, "src"))).toContain(mended);
    expect([runsIn(sub).length, runsIn(around).length]).toEqual([1, 0]);
    expect((await ask(world, around, "status")).told).toMatchObject({ runs: [], finished: 0 });
    expect(gitIn(around, "status", "--porcelain")).toBe("");
  });
});

describe("a project that moved", () => {
  const hand = async (world: Project, form: readonly string[], gate: boolean) => {
    const session = sit({ ...world, env: world.place.env });
    const begun = await session.run("start", "change", "--packet", packetOf(world), ...form);
    const script = gate ? { hooks: "claude" as const } : {};
    return scripted(session, script).go(begun, (next) => next.do === "dispatch" && next.agents[0].slot === "coder");
  };

  test.each<[string, readonly string[]]>([
    ["headless", ["--headless"]],
    ["interactive", []],
  ])("%s: refused with the reason, never led in the old place; back where it was, it goes on", async (name, form) => {
    const world = project();
    const told = await hand(world, form, name === "interactive");
    const { id } = told.json.run as { readonly id: string };
    const moved = join(world.place.folder, "moved");
    renameSync(world.project, moved);
    expect((await ask(world, moved, "status")).told).toMatchObject({ runs: [{ id, root: moved }] });
    const before = readFileSync(join(moved, ".atlas", id, "log.jsonl"));
    const claim = ["--run", id, "--claim", told.claim];
    for (const words of [
      ["resume"],
      ["next", "--run", id],
      ["submit", ...claim, "--slot", "coder", "--failed", "error"],
    ]) {
      const said = await ask(world, moved, ...words);
      expect(said, words.join(" ")).toMatchObject({ code: 3, told: { refused: { code: "run.moved" } } });
      expect(said.told.refused?.reason).toContain(world.project);
    }
    expect(readFileSync(join(moved, ".atlas", id, "log.jsonl"))).toEqual(before);
    renameSync(moved, world.project);
    const again = await ask(world, world.project, "resume");
    expect(again).toMatchObject({ code: 0, told: { next: { do: "dispatch" } } });
    renameSync(world.project, moved);
    expect(await ask(world, moved, "abandon", "--run", id)).toMatchObject({ code: 0 });
    expect(existsSync(world.project)).toBe(false);
  });

  test("a linked worktree that is gone: refused with the reason", async () => {
    const world = project();
    const linked = join(world.place.folder, "linked");
    gitIn(world.project, "worktree", "add", "-q", "-b", "side", linked);
    const id = await open(world, linked);
    gitIn(world.project, "worktree", "remove", linked);
    const said = await ask(world, world.project, "resume", "--run", id);
    expect(said).toMatchObject({ code: 3, told: { refused: { code: "run.moved" } } });
    expect(said.told.refused?.reason).toContain(linked);
  });
});

describe("an empty answer names what was searched", () => {
  test.each(["status", "resume"])("%s", async (verb) => {
    const world = project();
    const linked = join(world.place.folder, "linked");
    gitIn(world.project, "worktree", "add", "-q", "-b", "side", linked);
    const inner = join(linked, "src");
    const said = await ask(world, inner, verb);
    expect(said).toMatchObject({ code: 0, told: { searched: [inner, linked, world.project] } });
    const plain = makePlace();
    const nothing = await call(plugin.cli, plain, [verb]);
    expect(nothing.told.searched).toContain(plain.project);
    const text = spawnSync(process.execPath, [plugin.cli, verb], { cwd: inner, encoding: "utf8" });
    expect(text.stdout).toContain(world.project);
  });

  test("a run that is not there is missed in the places that were searched", async () => {
    const world = project();
    const said = await ask(world, world.project, "resume", "--run", "20261130t190000z-ffffff");
    expect(said.told.refused?.reason).toContain(world.project);
  });

  test("a folder that is gone is a usage error, not a bug", async () => {
    const world = project();
    const gone = join(world.place.folder, "gone");
    mkdirSync(gone);
    const script = 'cd "$0" && rmdir "$0" && exec "$@"';
    const said = await call(plugin.cli, world.place, ["status"], { under: ["sh", "-c", script, gone] });
    expect(said).toMatchObject({ code: 2, told: { error: { code: "usage.cwd" } } });
  });
});
