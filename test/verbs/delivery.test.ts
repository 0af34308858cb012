/** The human's word at the end, made true in the user's own tree: real command line, real git, real kills. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addOneOfEach, bytesBelow, changingEach } from "../support/delivered-world.ts";
import { type Agent, coder, rightSum, signed } from "../support/scripted-agents.ts";
import {
  begin,
  builtPlugin,
  type Env,
  eventsOf,
  gitIn,
  makeWorld,
  type Plugin,
  request,
  runFolder,
  type Session,
  scripted,
  sit,
  type Told,
  typeWords,
  type World,
} from "../support/scripted-run.ts";
import { tempFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
});
afterAll(() => plugin.remove());

const packet = { ...request, scope_paths: ["."] };
const wrong = "module.exports = (a, b) => a - b;\n";
const typesOf = (world: World, type: string) => eventsOf(world).filter((event) => event.type === type);
const source = (world: World) => join(world.project, "src", "add.js");

/** A headless run that has ended, its output gate open. */
async function ended(agent: Agent, prepare: (world: World) => void = () => {}): Promise<World> {
  const world = makeWorld(plugin, tempFolder());
  prepare(world);
  const end = await scripted(sit(world), { agents: { coder: agent } }).go(
    await begin(sit(world), packet, "--headless"),
  );
  expect(end.next.do, end.stdout).toBe("report");
  return world;
}

/** The human types the word, then it is passed on. */
async function choose(world: World, choice: string, env: Env = {}): Promise<Told> {
  const session: Session = sit(world, { env });
  const nonce = typesOf(world, "asked").at(-1)?.nonce as string;
  // A run that has ended is looked for by no hook: what is typed for it stands in the session's own record.
  await session.hook("claude", "SessionStart", { source: "startup" });
  await typeWords(session, "claude", `atlas ${nonce} ${choice}`);
  return session.run("answer", "--gate", "output", "--choice", choice, "--run", idOf(world));
}

const idOf = (world: World) => runFolder(world).split("/").at(-1) as string;

function ownTree(world: World): string {
  const trees = join(runFolder(world), "worktree");
  return join(trees, readdirSync(trees)[0] as string);
}

describe("apply of what an isolated run made", () => {
  test("writes exactly the changed paths, byte for byte; it commits and stages nothing, and twice is once", async () => {
    const world = await ended(changingEach, (made) => {
      addOneOfEach(made);
      writeFileSync(join(made.project, "check.js"), `${readFileSync(join(made.project, "check.js"), "utf8")}// mine\n`);
      writeFileSync(join(made.project, "notes.txt"), "the user's own\n");
      writeFileSync(join(made.project, "staged.txt"), "staged\n");
      gitIn(made.project, "add", "staged.txt");
    });
    const before = bytesBelow(world.project);
    const index = gitIn(world.project, "ls-files", "-s");
    const head = gitIn(world.project, "rev-parse", "HEAD");
    const result = bytesBelow(ownTree(world));

    const told = await choose(world, "apply");
    expect(told.code, told.stdout).toBe(0);
    const own = Object.fromEntries(["check.js", "notes.txt", "staged.txt"].map((path) => [path, before[path]]));
    expect(bytesBelow(world.project)).toEqual({ ...result, ...own });
    const written = typesOf(world, "delivered");
    expect(written).toEqual([expect.objectContaining({ choice: "apply", left: 0 })]);
    expect(told.json.delivery).toMatchObject({ choice: "apply", done: true, left: 0 });
    expect(gitIn(world.project, "ls-files", "-s")).toBe(index);
    expect(gitIn(world.project, "rev-parse", "HEAD")).toBe(head);

    // The tree is the user's again: the same word once more changes nothing of what he did since.
    writeFileSync(source(world), "// later\n");
    const again = await choose(world, "apply");
    expect(again.did).toContain("already output apply");
    expect(readFileSync(source(world), "utf8")).toBe("// later\n");
    expect(typesOf(world, "delivered")).toHaveLength(1);
  });

  test("a path that the user changed stops all of it, the gate stays open, and it goes on when the path is back", async () => {
    const world = await ended(changingEach, addOneOfEach);
    writeFileSync(source(world), "// the user's own idea\n");
    const before = bytesBelow(world.project);
    const told = await choose(world, "apply");
    expect([told.code, told.refused.code]).toEqual([3, "apply.diverged"]);
    expect(told.refused.reason).toContain('"src/add.js"');
    expect(bytesBelow(world.project)).toEqual(before);
    expect(typesOf(world, "answered").filter(({ gate }) => gate === "output")).toEqual([]);
    expect(typesOf(world, "delivery-wanted")).toEqual([]);

    writeFileSync(source(world), wrong);
    expect((await choose(world, "apply")).json.delivery).toMatchObject({ done: true, left: 0 });
    expect(readFileSync(source(world), "utf8")).toBe(rightSum);
  });

  const inTheWay: Readonly<Record<string, readonly [path: string, (src: string) => void]>> = {
    "an ignored file": ["mine.txt", (src) => writeFileSync(join(src, "mine.txt"), "mine\n")],
    "an ignored file where a folder is to be": ["mine/new.txt", (src) => writeFileSync(join(src, "mine"), "mine\n")],
    "an ignored link where a folder is to be": [
      "mine/new.txt",
      (src) => {
        mkdirSync(join(src, "..", "..", "elsewhere"));
        symlinkSync("../../elsewhere", join(src, "mine"));
      },
    ],
    "a folder of ignored files where a file is to be": [
      "mine",
      (src) => {
        mkdirSync(join(src, "mine"));
        writeFileSync(join(src, "mine", "own.txt"), "mine\n");
      },
    ],
  };
  test.each(Object.keys(inTheWay))("%s in the way is never written over", async (name) => {
    const [path, put] = inTheWay[name] as (typeof inTheWay)[string];
    const world = await ended((work) => {
      mkdirSync(join(work.root, "src", path, ".."), { recursive: true });
      writeFileSync(join(work.root, "src", path), "the run's\n");
      return signed(work, "done\nSTATUS: COMPLETE");
    });
    // Only the user's own tree ignores it.
    writeFileSync(join(world.project, "src", ".gitignore"), "mine*\n.gitignore\n");
    put(join(world.project, "src"));
    const before = bytesBelow(world.project);
    const told = await choose(world, "apply");
    expect([told.code, told.refused?.code], told.stdout).toEqual([3, "apply.diverged"]);
    expect(bytesBelow(world.project)).toEqual(before);
    expect(existsSync(join(world.project, "..", "elsewhere", "new.txt"))).toBe(false);
  });

  test.each(["before", "after"] as const)(
    "killed %s its files are written, the next command finishes it once",
    async (when) => {
      const world = await ended(changingEach, addOneOfEach);
      const result = bytesBelow(ownTree(world));
      const killed = await choose(world, "apply", killingGit(world, when));
      expect(killed.code).not.toBe(0);
      expect(typesOf(world, "delivery-wanted")).toHaveLength(1);
      expect(typesOf(world, "delivered")).toEqual([]);

      const next =
        when === "before"
          ? await sit(world).run("resume", "--run", idOf(world))
          : await sit(world).run("answer", "--gate", "output", "--choice", "apply", "--run", idOf(world));
      expect(next.code, next.stdout + next.stderr).toBe(0);
      expect(bytesBelow(world.project)).toEqual(result);
      expect(typesOf(world, "delivered")).toHaveLength(1);
      expect(typesOf(world, "delivery-wanted")).toHaveLength(1);
    },
  );
});

describe("an interactive run, in the user's own tree", () => {
  const two: Agent = (work) => {
    writeFileSync(join(work.root, "src", "new.js"), "// new\n");
    writeFileSync(join(work.root, "check.js"), "process.exit(0);\n");
    return coder("src/add.js", rightSum)(work);
  };

  test("discard takes back what still holds the result, leaves what the user changed since, and counts both", async () => {
    const world = makeWorld(plugin, tempFolder());
    const session = sit(world);
    const run = scripted(session, { hooks: "claude", agents: { coder: two } });
    const at = await run.go(await begin(session, packet), (next) => next.do === "ask" && next.gate === "output");
    expect(at.next.do).toBe("ask");
    writeFileSync(join(world.project, "check.js"), "// mine now\n");
    const told = await choose(world, "discard");
    expect(told.json.delivery, told.stdout).toEqual({ choice: "discard", done: true, written: 2, left: 1 });
    expect(readFileSync(source(world), "utf8")).toBe(wrong);
    expect(existsSync(join(world.project, "src", "new.js"))).toBe(false);
    expect(readFileSync(join(world.project, "check.js"), "utf8")).toBe("// mine now\n");
  });
});

/** A git that ends whoever calls it when the files are written out. */
function killingGit(world: World, when: "before" | "after"): Env {
  const folder = join(world.project, "..", "bin");
  mkdirSync(folder);
  const git = `PATH="${process.env.PATH}" git`;
  const strike = 'kill -9 "$PPID"';
  const body = [
    "#!/bin/sh",
    'case " $* " in *" checkout-index "*)',
    when === "before" ? `  ${strike}; exit 1;;` : `  ${git} "$@"; ${strike}; exit 1;;`,
    "esac",
    `${git} "$@"`,
  ];
  writeFileSync(join(folder, "git"), `${body.join("\n")}\n`);
  chmodSync(join(folder, "git"), 0o755);
  return { PATH: `${folder}:${process.env.PATH}` };
}
