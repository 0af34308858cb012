import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RUN, writeOwnRun } from "../support/ledger.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { tempFolder } from "../support/temp.ts";
import { keptPlugin, makeWorld, payloadOf } from "./host-world.ts";

let plugin: Awaited<ReturnType<typeof keptPlugin>>;
beforeAll(async () => {
  plugin = await keptPlugin();
});
afterAll(() => plugin.remove());

/** Every POSIX shell this machine has; `sh` is always one. */
const shells = ["sh", "dash", "bash", "busybox", "ksh", "zsh"].flatMap((name) => {
  const found = (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync);
  return found === undefined ? [] : [[name, found] as const];
});

/** A plugin whose `dist/atlas.cjs` is only passed on to a fake node that says who it is. */
function fakePlugin(name = "plugin"): string {
  const root = join(tempFolder(), name);
  mkdirSync(join(root, "dist"), { recursive: true });
  for (const folder of ["hooks", "bin"]) cpSync(join(repositoryRoot, folder), join(root, folder), { recursive: true });
  writeFileSync(join(root, "dist", "atlas.cjs"), "");
  return root;
}

function fakeNode(path: string, says: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(
    path,
    `#!/bin/sh\nprintf '%s\\n' "${says}" "$@"\nprintf 'options=%s path=%s kept=%s,%s\\n' "\${NODE_OPTIONS-none}" "\${NODE_PATH-none}" "\${ATLAS_NODE_OPTIONS-none}" "\${ATLAS_NODE_PATH-none}"\nexit 7\n`,
  );
  chmodSync(path, 0o755);
}

interface Launch {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

/** An environment with nothing in it but what is given, as `env -i` makes it; no node on PATH. */
function launch(file: string, argv: readonly string[], env: Record<string, string>, shell = "/bin/sh"): Launch {
  const command = shell.endsWith("busybox") ? ["sh", file, ...argv] : [file, ...argv];
  const clean = { PATH: emptyPath(), ATLAS_NODE_PLACES: "", ...env };
  const child = spawnSync(shell, command, { env: clean, encoding: "utf8", timeout: 10_000 });
  return { code: child.status, lines: child.stdout.split("\n").filter((line) => line !== ""), stderr: child.stderr };
}

/** The few programs the slow path may use, and no node. */
function emptyPath(): string {
  const folder = tempFolder();
  for (const name of ["mkdir", "readlink", "sh"]) {
    const from = ["/bin", "/usr/bin"].map((bin) => join(bin, name)).find(existsSync);
    if (from !== undefined) symlinkSync(from, join(folder, name));
  }
  return folder;
}

const words = ["hook", "--host", "claude", "--on", "SessionStart"];

describe.each(shells)("under %s", (_name, shell) => {
  test.each(["plugin", `a b/ü'x$(y)"\`z\`;*`])(
    "node on PATH gets the words as they are, its own exit code comes back: %s",
    (name) => {
      const root = fakePlugin(name);
      const bin = join(tempFolder(), "bin dir");
      fakeNode(join(bin, "node"), "path node");
      const answer = launch(join(root, "hooks", "run"), ["hook", "a b", "$x", ""], { PATH: bin }, shell);
      expect(answer.lines.slice(0, 5)).toEqual(["path node", `${root}/hooks/../dist/atlas.cjs`, "hook", "a b", "$x"]);
      expect(answer).toMatchObject({ code: 7, stderr: "" });
    },
  );

  test.each([
    ["nvm", ".nvm/versions/node/v20.9.0/bin/node", {}],
    [
      "nvm, the newest of several",
      ".nvm/versions/node/v20.10.1/bin/node",
      { older: ".nvm/versions/node/v20.9.9/bin/node" },
    ],
    ["fnm", ".local/share/fnm/node-versions/v22.1.0/installation/bin/node", {}],
    ["fnm on macOS", "Library/Application Support/fnm/node-versions/v22.1.0/installation/bin/node", {}],
    ["volta", ".volta/bin/node", {}],
    [
      "mise",
      ".local/share/mise/installs/node/22.1.0/bin/node",
      { older: ".local/share/mise/installs/node/22/bin/node" },
    ],
    ["asdf", ".asdf/installs/nodejs/20.11.1/bin/node", { older: ".asdf/installs/nodejs/18.20.0/bin/node" }],
    ["nodenv", ".nodenv/versions/20.0.0/bin/node", {}],
    [
      "nvm beside one that is too old",
      ".nvm/versions/node/v20.0.0/bin/node",
      { older: ".nvm/versions/node/v19.99.99/bin/node" },
    ],
    [
      "fnm, nvm holding one that is too old",
      ".fnm/node-versions/v20.1.0/installation/bin/node",
      { older: ".nvm/versions/node/v18.20.0/bin/node" },
    ],
    [
      "nvm beside a folder whose name is no version",
      ".nvm/versions/node/v20.1.0/bin/node",
      { older: ".nvm/versions/node/v20.08.x/bin/node" },
    ],
    [
      "nvm beside a number that would be octal",
      ".nvm/versions/node/v20.1.0/bin/node",
      { older: ".nvm/versions/node/v20.08.09/bin/node" },
    ],
  ])("node is found in %s", (_manager, path, { older }: { older?: string }) => {
    const home = join(tempFolder(), "ho me");
    fakeNode(join(home, path), "found");
    if (older !== undefined) fakeNode(join(home, older), "older");
    const answer = launch(join(fakePlugin(), "hooks", "run"), words, { HOME: home }, shell);
    expect(answer.lines[0]).toBe("found");
    expect(answer.code).toBe(7);
  });

  test.each(["NVM_DIR", "FNM_DIR", "VOLTA_HOME", "ATLAS_NODE", "ATLAS_NODE_PLACES"])(
    "node is found where %s says",
    (name) => {
      const folder = join(tempFolder(), "x y");
      const places: Record<string, string> = {
        NVM_DIR: "versions/node/v21.0.0/bin/node",
        FNM_DIR: "node-versions/v21.0.0/installation/bin/node",
        VOLTA_HOME: "bin/node",
      };
      const path = join(folder, places[name] ?? "node");
      fakeNode(path, "found");
      const value = name === "ATLAS_NODE" ? path : name === "ATLAS_NODE_PLACES" ? `/dev/null:${folder}` : folder;
      expect(launch(join(fakePlugin(), "hooks", "run"), words, { [name]: value }, shell).lines[0]).toBe("found");
    },
  );

  test("a preload of the user's is set aside for what is started on his behalf", () => {
    const bin = tempFolder();
    fakeNode(join(bin, "node"), "x");
    const run = join(fakePlugin(), "hooks", "run");
    const env = { PATH: bin, NODE_OPTIONS: "--require ./x.js", NODE_PATH: "/p" };
    expect(launch(run, words, env, shell).lines.at(-1)).toBe("options=none path=none kept=--require ./x.js,/p");
    expect(launch(run, words, { PATH: bin }, shell).lines.at(-1)).toBe("options=none path=none kept=none,none");
  });

  test("none that is 20 or newer is no node", () => {
    const home = tempFolder();
    for (const version of ["v18.20.4", "v0.12.18", "v20", "v20.1", "v20.1.0-rc.1", "vx.1.2"])
      fakeNode(join(home, ".nvm/versions/node", version, "bin/node"), version);
    mkdirSync(join(home, ".nvm/versions/node/v22.0.0/bin/node"), { recursive: true });
    const answer = launch(join(fakePlugin(), "hooks", "run"), words, { HOME: home }, shell);
    expect(answer).toMatchObject({ code: 0, lines: [] });
    expect(answer.stderr).toMatch(/^atlas: no node found [^\n]+install Node 20 or newer, or set ATLAS_NODE\n$/);
  });

  test("no node: a hook says so once a session and the session goes on", () => {
    const run = join(fakePlugin(), "hooks", "run");
    const home = tempFolder();
    const first = { HOME: home, CLAUDE_CODE_SESSION_ID: "one" };
    const says = (env: Record<string, string>) => {
      const answer = launch(run, words, env, shell);
      expect({ code: answer.code, lines: answer.lines }).toEqual({ code: 0, lines: [] });
      return answer.stderr;
    };
    expect(says(first)).toMatch(/^atlas: no node found [^\n]+\n$/);
    expect(says(first)).toBe("");
    expect(says({ ...first, CLAUDE_CODE_SESSION_ID: "two" })).not.toBe("");
    expect(says({ ...first, CLAUDE_CODE_SESSION_ID: "../../x" })).not.toBe("");
    expect(readdirSync(join(home, ".local", "state", "atlas", "no-node")).some((name) => name.includes("x"))).toBe(
      false,
    );
  });

  test("no node and nothing to remember it by: only a session's start says so", () => {
    const run = join(fakePlugin(), "hooks", "run");
    const started = launch(run, words, {}, shell);
    expect(started).toMatchObject({ code: 0, lines: [] });
    expect(started.stderr).toMatch(/^atlas: no node/);
    expect(launch(run, ["hook", "--on", "PreToolUse"], { HOME: "/dev/null" }, shell)).toMatchObject({
      code: 0,
      stderr: "",
    });
  });
});

test("the command line without node: one line, exit 4", () => {
  const root = fakePlugin();
  const answer = launch(join(root, "bin", "atlas"), ["status"], { HOME: tempFolder() });
  expect(answer).toMatchObject({ code: 4, lines: [] });
  expect(answer.stderr).toMatch(/^atlas: no node found [^\n]+\n$/);
});

test("the command line is found through links, absolute and relative", () => {
  const root = fakePlugin("a b");
  const bin = tempFolder();
  fakeNode(join(bin, "node"), "x");
  const links = tempFolder();
  symlinkSync(join(root, "bin", "atlas"), join(links, "one"));
  symlinkSync("one", join(links, "two"));
  const answer = launch(join(links, "two"), ["status"], { PATH: `${bin}:${emptyPath()}` });
  expect(answer.lines.slice(0, 3)).toEqual(["x", `${root}/bin/../hooks/../dist/atlas.cjs`, "status"]);
});

test("both launchers may be executed", () => {
  for (const file of ["hooks/run", "bin/atlas"]) expect(statSync(join(repositoryRoot, file)).mode & 0o111).toBe(0o111);
});

test("the launcher uses no program but node while node is on PATH", () => {
  const bin = tempFolder();
  fakeNode(join(bin, "node"), "only");
  expect(launch(join(fakePlugin(), "hooks", "run"), words, { PATH: bin }).lines[0]).toBe("only");
});

describe("the real entry through the launcher, as a host's shell starts it", () => {
  test.each(["CLAUDE_PLUGIN_ROOT", "KIMI_PLUGIN_ROOT"])(
    "a project and a plugin under an odd path, %s unset for the program itself",
    (variable) => {
      const world = makeWorld(`a b ü'x$(y)-`);
      writeOwnRun(world.atlas, { stages: ["INIT"] });
      const root = join(world.home, `pl'ug in $(touch x)`);
      cpSync(plugin.root, root, { recursive: true });
      const host = variable === "CLAUDE_PLUGIN_ROOT" ? "claude" : "kimi";
      const command = `sh "$${variable}/hooks/run" hook --host ${host} --on SessionStart`;
      const child = spawnSync("/bin/sh", ["-c", command], {
        cwd: world.project,
        env: { ...world.env, [variable]: root },
        input: JSON.stringify(payloadOf(host, "SessionStart", world, { source: "startup" })),
        encoding: "utf8",
      });
      expect({ code: child.status, stderr: child.stderr }).toEqual({ code: 0, stderr: "" });
      expect(child.stdout.includes(RUN)).toBe(host === "claude");
      const [record] = readdirSync(join(world.state, "sessions"));
      // The shells between the host and us are none of its processes.
      const held = JSON.parse(readFileSync(join(world.state, "sessions", String(record)), "utf8")) as { pid: number };
      expect(held.pid).toBe(process.pid);
    },
  );

  test("a preload in NODE_OPTIONS is not loaded into a hook", () => {
    const world = makeWorld();
    const preload = join(world.home, "preload.cjs");
    writeFileSync(preload, "process.stdout.write('PRELOADED')");
    const child = spawnSync("sh", [join(plugin.root, "hooks", "run"), ...words], {
      env: { ...world.env, NODE_OPTIONS: `--require ${preload}` },
      input: JSON.stringify(payloadOf("claude", "SessionStart", world)),
      encoding: "utf8",
    });
    expect({ code: child.status, stdout: child.stdout }).toEqual({ code: 0, stdout: "" });
  });

  test("an installation without its verbs says so: exit 4", () => {
    const child = spawnSync("sh", [join(plugin.root, "bin", "atlas"), "status", "--json"], {
      env: makeWorld().env,
      encoding: "utf8",
    });
    expect(child.status).toBe(4);
    expect(JSON.parse(child.stdout)).toMatchObject({ error: { code: "install.broken" } });
  });

  test("the entry hands its build id to the verbs beside it, and takes their exit code", () => {
    const root = join(tempFolder(), "p");
    cpSync(plugin.root, root, { recursive: true });
    const body = "exports.run = async (argv, entry) => { console.log(JSON.stringify({ argv, entry })); return 3; };";
    writeFileSync(join(root, "dist", "verbs.cjs"), body);
    const child = spawnSync(join(root, "bin", "atlas"), ["verify", "a b"], { env: makeWorld().env, encoding: "utf8" });
    expect(child.status).toBe(3);
    expect(JSON.parse(child.stdout)).toEqual({ argv: ["verify", "a b"], entry: { build: "test-build" } });
  });
});

test("the Windows launcher clears and keeps the same variables, finds node and lets hooks pass without it", () => {
  const text = readFileSync(join(repositoryRoot, "hooks", "run.cmd"), "utf8");
  for (const name of ["NODE_OPTIONS", "NODE_PATH"]) {
    expect(text).toContain(`if defined ${name} set "ATLAS_${name}=%${name}%"`);
    expect(text).toContain(`set "${name}="`);
  }
  expect(text).toContain('if "%~1"=="hook" set "NODE_EXTRA_CA_CERTS="');
  const missing = text.split(/\r?\n/).filter((line) => /^if not defined ATLAS_FOUND (if "%~1"|echo|exit)/.test(line));
  expect(missing).toEqual([
    'if not defined ATLAS_FOUND if "%~1"=="hook" if not "%~5"=="SessionStart" exit /b 0',
    "if not defined ATLAS_FOUND echo atlas: no node found; install Node 20 or newer, or set ATLAS_NODE 1>&2",
    'if not defined ATLAS_FOUND if "%~1"=="hook" exit /b 0',
    "if not defined ATLAS_FOUND exit /b 4",
  ]);
  expect(text).toContain('"%ATLAS_FOUND%" "%~dp0..\\dist\\atlas.cjs" %*');
  expect(text).not.toMatch(/goto|^:/m);
});
