/** Trees as a run makes them, inside the main checkout, and what lies above and beside them. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { environmentOf, leadsOut } from "../../scripts/engine/lens-environment.ts";
import type { LensInput } from "../../scripts/engine/lens-input.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { treePair } from "../../scripts/platform/look-ups.ts";
import { failed } from "../../scripts/verify/lens.ts";
import { verdict } from "../../scripts/verify/verdict.ts";
import { allRan, context, good, ids, seats } from "../support/judgments.ts";
import { tempFolder } from "../support/temp.ts";

const [npm, node, go, editable, pythonPath, pytest] = [
  "npm finds the main checkout's package.json",
  "node finds the main checkout's own packages through node_modules",
  "go finds the main checkout's go.work",
  "an editable install leads into the main checkout",
  "PYTHONPATH leads into the main checkout",
  "pytest takes the main checkout for its root",
];

/** `main` gets the first files, the tree the second; a value that begins with `->` is a link. */
function place(main: Readonly<Record<string, string>>, tree: Readonly<Record<string, string>> = {}) {
  const root = tempFolder();
  const inside = join(root, ".atlas", "change-1", "worktree", "e1.1");
  mkdirSync(inside, { recursive: true });
  const put = (folder: string, files: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      if (text.startsWith("->")) symlinkSync(text.slice(2).replace("MAIN", root), path);
      else writeFileSync(path, text.replaceAll("MAIN", root));
    }
  };
  put(root, main);
  put(inside, tree);
  return {
    root,
    tree: inside,
    leads: (command: string, environment: Readonly<Record<string, string>> = {}, runners = "") =>
      leadsOut(
        realFileSystem,
        treePair(realFileSystem, inside, root),
        { HOME: join(root, "nobody"), ...environment },
        command,
        runners,
      ),
  };
}

describe("what npm and node find", () => {
  test("a package.json of the main checkout is a lead where the tree has none", () => {
    expect(place({ "package.json": "{}" }).leads("npm test")).toEqual([npm]);
    expect(place({ "package.json": "{}" }).leads("make check")).toEqual([npm]);
    expect(place({ "package.json": "{}" }, { "package.json": "{}" }).leads("npm test")).toEqual([]);
    expect(place({}).leads("npm test")).toEqual([]);
    expect(place({ "package.json": "{}" }).leads("go test ./...")).toEqual([]);
  });

  test("a wrapper may run any program, until it is known which runner it runs", () => {
    const world = place({ "package.json": "{}", "pytest.ini": "" });
    expect(world.leads("make check")).toEqual([npm, pytest]);
    expect(world.leads("./check", {}, "pytest")).toEqual([pytest]);
    expect(world.leads("make check", {}, "vitest")).toEqual([npm]);
    expect(world.leads("make check", {}, "cargo")).toEqual([]);
  });

  test("a workspace package that is a link to the main checkout's sources is a lead; an installed one is none", () => {
    const own = { "packages/a/index.js": "1", "node_modules/@s/a": "->../../packages/a" };
    const foreign = { "node_modules/.pnpm/b/index.js": "1", "node_modules/b": "->.pnpm/b" };
    const json = { "package.json": "{}" };
    expect(place({ ...json, ...own, ...foreign }, json).leads("npx vitest run")).toEqual([node]);
    expect(place({ ...json, ...foreign }, json).leads("npx vitest run")).toEqual([]);
    expect(place({ ...json, ...own }, json).leads("cargo test")).toEqual([]);
  });

  test("the tree's own package of that name comes first; a folder of caches is none", () => {
    const main = { "package.json": "{}", "packages/a/index.js": "1", "node_modules/a": "->../packages/a" };
    const tree = { "package.json": "{}", "packages/a/index.js": "1" };
    expect(place(main, { ...tree, "node_modules/a": "->../packages/a" }).leads("npm test")).toEqual([]);
    expect(place(main, { ...tree, "node_modules/.vite/x": "1" }).leads("npm test")).toEqual([node]);
  });

  test("wherever in the main checkout the tree lies, its own packages are its own", () => {
    const { root } = place({ "t/package.json": "{}", "t/packages/a/x.js": "1", "t/node_modules/a": "->../packages/a" });
    const leads = () => leadsOut(realFileSystem, treePair(realFileSystem, join(root, "t"), root), {}, "npm test", "");
    expect(leads()).toEqual([]);
    symlinkSync(join(root, "u"), join(root, "t", "node_modules", "u"));
    mkdirSync(join(root, "u"));
    expect(leads()).toEqual([node]);
  });

  test("a node_modules that is a link, and a link in a package's own, are followed", () => {
    const main = { "package.json": "{}", "packages/a/index.js": "1", "node_modules/a": "->../packages/a" };
    expect(place(main, { "package.json": "{}", node_modules: "->MAIN/node_modules" }).leads("npm test")).toEqual([
      node,
    ]);
    const nested = { "package.json": "{}", "packages/b/node_modules/a": "->MAIN/packages/a" };
    expect(place({ ...main, "node_modules/a": "->/usr" }, nested).leads("npm test")).toEqual([node]);
  });

  test("a go.work of the main checkout is a lead for go alone", () => {
    const world = place({ "go.work": "go 1.19\n" }, { "go.mod": "module a\n" });
    expect(world.leads("go test ./...")).toEqual([go]);
    expect(world.leads("npx google")).toEqual([]);
    expect(place({ "go.work": "" }, { "go.work": "" }).leads("go test ./...")).toEqual([]);
  });
});

describe("what python finds", () => {
  const site = "venv/lib/python3.11/site-packages";
  const active = (world: { readonly root: string }) => ({ VIRTUAL_ENV: join(world.root, "venv") });
  const pth = (text: string, name = "__editable__.a-1.pth") => place({ [`${site}/${name}`]: text, "src/a.py": "1" });

  test.each([
    ["__editable__.a-1.pth", "MAIN/src\n"],
    ["a.pth", "# words\nMAIN\n"],
    ["a.egg-link", "MAIN/src\n.\n"],
    ["__editable___a_finder.py", "MAPPING: dict = {'a': 'MAIN/src/a'}\n"],
    ["_a_editable_loader.py", 'install({"a": "MAIN/src"})\n'],
    ["up.pth", "../../../../src\n"],
  ])("V-08: an editable install of the active environment is a lead: %s", (name, text) => {
    const world = pth(text, name);
    expect(world.leads("pytest", active(world))).toEqual([editable]);
    // The same install, with nothing that would run its python.
    expect(world.leads("pytest")).toEqual([]);
    expect(world.leads("npm test", active(world))).toEqual([]);
  });

  test.each([
    ["a.pth", "/opt/elsewhere\n"],
    ["a.pth", "import _virtualenv\n"],
    ["distutils-precedence.pth", "import os; os.path.join('MAIN')\n"],
    ["a.pth", "MAIN/venv/lib/python3.11/site-packages/x\n"],
    ["a.txt", "MAIN/src\n"],
  ])("V-08: one that leads elsewhere is none: %s %s", (name, text) => {
    const world = pth(text, name);
    expect(world.leads("pytest", active(world))).toEqual([]);
  });

  test("an environment is also reached by PATH, by a link in the tree and by its path in the command", () => {
    const files = { [`${site}/a.pth`]: "MAIN/src\n", "src/a.py": "1", "venv/bin/python3": "->/bin/sh" };
    const world = place(files);
    expect(world.leads("pytest", { PATH: join(world.root, "venv", "bin") })).toEqual([editable]);
    expect(world.leads(`${world.root}/venv/bin/pytest`)).toEqual([editable]);
    expect(world.leads("../../../../venv/bin/python -m pytest")).toEqual([editable]);
    expect(place(files, { ".venv": "->MAIN/venv" }).leads("uv run pytest")).toEqual([]);
    expect(place(files, { ".venv": "->MAIN/venv" }).leads(".venv/bin/pytest")).toEqual([editable]);
  });

  test("none is followed where the tree's own sources come first", () => {
    const world = pth("MAIN/src\n");
    expect(world.leads("PYTHONPATH=src pytest", active(world))).toEqual([]);
    expect(world.leads("python -m pytest", active(world))).toEqual([editable]);
    expect(pth("MAIN\n").leads("python -m pytest")).toEqual([]);
    const settled = place({ [`${site}/a.pth`]: "MAIN/src\n" }, { "pytest.ini": "[pytest]\npythonpath = src\n" });
    expect(settled.leads("pytest", active(settled))).toEqual([]);
  });

  test("an absolute PYTHONPATH into the main checkout is a lead, one into the tree or a relative one is none", () => {
    const world = place({ "src/a.py": "1" });
    expect(world.leads("pytest", { PYTHONPATH: `lib:${world.root}/src` })).toEqual([pythonPath]);
    expect(world.leads("pytest", { PYTHONPATH: `src:${world.tree}/src:/opt` })).toEqual([]);
    expect(world.leads("go test", { PYTHONPATH: `${world.root}/src` })).toEqual([]);
  });

  test.each([
    ["pytest.ini", ""],
    ["pyproject.toml", "[tool.pytest.ini_options]\n"],
    ["setup.cfg", "[tool:pytest]\n"],
    ["tox.ini", "[pytest]\n"],
    ["setup.py", ""],
  ])("the main checkout is pytest's root by its %s where the tree has none", (name, text) => {
    expect(place({ [name]: text, "conftest.py": "" }).leads("pytest -q")).toEqual([pytest]);
    expect(place({ [name]: text }, { [name]: text }).leads("pytest -q")).toEqual([]);
    expect(place({ [name]: text }).leads("python3 -m unittest")).toEqual([]);
  });

  test("without any settings the tree is its own root", () => {
    expect(place({ "conftest.py": "" }, { "test_a.py": "" }).leads("pytest")).toEqual([]);
  });
});

describe("the lens environment", () => {
  const inputAt = (world: ReturnType<typeof place>, isolated: boolean, root: string) =>
    ({
      engine: { fs: realFileSystem, environment: { HOME: world.root } },
      loaded: { state: { isolated, head: { top: world.root } }, folder: {} },
      packet: { verify_cmd: "npm test" },
      root,
      files: [],
      measured: { tests: { runners: [] } },
    }) as unknown as LensInput;

  test("fails with what it found in a tree of the run's own, and is not asked about the user's", () => {
    const world = place({ "package.json": "{}", "pytest.ini": "" });
    expect(environmentOf(inputAt(world, true, world.tree))).toEqual({ status: "failed", reason: npm, defects: [] });
    const own = { status: "skipped", reason: "the user's own tree", defects: [] };
    expect(environmentOf(inputAt(world, false, world.root))).toEqual(own);
    expect(environmentOf(inputAt(world, false, world.tree))).toEqual(own);
    expect(environmentOf(inputAt(world, true, world.root))).toEqual(own);
    const sound = place({ "package.json": "{}" }, { "package.json": "{}" });
    expect(environmentOf(inputAt(sound, true, sound.tree))).toEqual({ status: "ran", defects: [] });
  });

  test("a failed lens keeps the label from being green", () => {
    const lenses = { ...allRan, environment: { ...failed(npm ?? ""), ms: 1 } };
    const result = verdict({ ...good, lenses }, seats(), 0, context);
    expect(result).toMatchObject({ label: "UNVERIFIED", refine: false });
    expect(ids(result.blocking)).toEqual(['evidence-incomplete:"environment"']);
    expect(verdict(good, seats(), 0, context).label).toBe("VERIFIED");
  });
});
