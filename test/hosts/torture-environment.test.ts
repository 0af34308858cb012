import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RUN, writeOwnRun } from "../support/ledger.ts";
import { tempFolder } from "../support/temp.ts";
import { type HostName, makeWorld, type World } from "./host-world.ts";
import {
  type Firing,
  fire,
  type Heard,
  hookOf,
  hostNames,
  inOrder,
  inTime,
  rootVariables,
  type Shipped,
  session,
  shipPlugin,
  silences,
  timeMsMax,
} from "./shipped.ts";

type Kept = Shipped & { readonly remove: () => void };

let plugin: Kept;
const usual = new Map<HostName, readonly Heard[]>();
beforeAll(async () => {
  plugin = await shipPlugin();
});
afterAll(() => plugin.remove());

function world(): World {
  const made = makeWorld();
  writeOwnRun(made.atlas, { stages: ["INIT"] });
  return made;
}

/** What the host gets at each event of an ordinary session here. */
async function usualOf(host: HostName): Promise<readonly Heard[]> {
  const known = usual.get(host) ?? (await session(plugin, world(), host)).heard;
  usual.set(host, known);
  return known;
}

/** A whole session in a world of its own, in time. */
function everyEvent(host: HostName, firingOf: (at: World) => Firing) {
  return inTime(async () => {
    const made = world();
    const firing = firingOf(made);
    return { ...(await session(plugin, made, host, () => firing)), made };
  });
}

/** No folder of programs, and no place to look for node but what is added. */
function bare(made: World, added: Record<string, string> = {}): Record<string, string> {
  return { PATH: join(made.home, "no-programs"), ATLAS_NODE_PLACES: "", HOME: made.home, ...added };
}

function nodeAt(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(process.execPath, path);
}

/** One that tells it was taken, and fails. */
function wrongNodeAt(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "#!/bin/sh\necho wrong node\nexit 9\n");
  chmodSync(path, 0o755);
}

describe.each(hostNames)("%s, at every event it has of us", (host) => {
  const variable = rootVariables[host];

  test.each([
    ["empty", ""],
    ["of a folder that is not there", "/nonexistent/plugin"],
    ["of a file", "/dev/null"],
  ])("a plugin folder %s: silence, exit 0", async (_name, root) => {
    const { heard, slowestMs } = await everyEvent(host, () => ({ root }));
    expect(heard).toEqual(silences(plugin, host));
    expect(slowestMs).toBeLessThan(timeMsMax);
  });

  test("no plugin folder at all: silence, exit 0", async () => {
    const { heard } = await everyEvent(host, () => ({ under: ["env", "-u", variable] }));
    expect(heard).toEqual(silences(plugin, host));
  });

  const harmless: readonly (readonly [string, (made: World) => Record<string, string>])[] = [
    ["the other host's plugin folder empty", () => ({ [rootVariables[host === "claude" ? "kimi" : "claude"]]: "" })],
    ["an empty file of exports", () => ({ CLAUDE_ENV_FILE: "" })],
    ["a file of exports in no folder", () => ({ CLAUDE_ENV_FILE: "/nonexistent/x/exports.sh" })],
    ["a file of exports that is a folder", (made) => ({ CLAUDE_ENV_FILE: made.home })],
    ["a file of exports that is always full", () => ({ CLAUDE_ENV_FILE: "/dev/full" })],
    ["a file of exports below a file", () => ({ CLAUDE_ENV_FILE: "/dev/null/exports.sh" })],
    ["a preload that is not there", () => ({ NODE_OPTIONS: "--require /nonexistent.js", NODE_PATH: "/nonexistent" })],
    ["certificates that are not there", () => ({ NODE_EXTRA_CA_CERTS: "/nonexistent.pem" })],
    ["warnings wanted by the user", () => ({ NODE_PENDING_DEPRECATION: "1" })],
    ["another session's id", () => ({ CLAUDE_CODE_SESSION_ID: "old", ATLAS_SESSION_ID: "older", CLAUDE_PID: "1" })],
    ["a claimed pid that is prose", () => ({ CLAUDE_PID: "../../etc/passwd" })],
    ["no language the system knows", () => ({ LC_ALL: "xx_YY.nothing", LANG: "", TZ: "Nowhere/None", TMPDIR: "" })],
  ];

  test.each(harmless)("%s: answered as ever", async (_name, addedOf) => {
    const { heard, slowestMs } = await everyEvent(host, (made) => ({ added: addedOf(made) }));
    expect(heard).toEqual(await usualOf(host));
    expect(slowestMs).toBeLessThan(timeMsMax);
  });

  test.each([
    ["HOME unset", {}],
    ["HOME empty", { HOME: "", XDG_STATE_HOME: "" }],
    ["HOME of no folder", { HOME: "/dev/null/home" }],
    ["HOME relative", { HOME: "home" }],
    ["a state folder below a file", { XDG_STATE_HOME: "/dev/null/state" }],
  ] as const)("%s: what needs no memory is answered as ever, the rest is silence", async (_name, home) => {
    const env = { PATH: process.env.PATH ?? "", ...home };
    const { heard, slowestMs } = await everyEvent(host, () => ({ env }));
    // That a pointer is owed to the next prompt is remembered nowhere.
    const remembered = ["UserPromptSubmit"];
    expect(heard).toEqual(
      (await usualOf(host)).map((said) => (remembered.includes(said.event) ? { ...said, stdout: "" } : said)),
    );
    expect(slowestMs).toBeLessThan(timeMsMax);
  });

  test("an environment that holds nothing but the plugin's folder (env -i)", async () => {
    const found = spawnSync("/bin/sh", ["-c", "command -v node"], { env: {} });
    const standard = ["/opt/homebrew/bin", "/usr/local/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/bin"];
    const hasNode = found.status === 0 || standard.some((folder) => existsSync(join(folder, "node")));
    const { heard, slowestMs } = await everyEvent(host, () => ({
      under: ["env", "-i", `${variable}=${plugin.root}`],
    }));
    expect(heard.map(({ code }) => code)).toEqual(heard.map(() => 0));
    expect(slowestMs).toBeLessThan(timeMsMax);
    const spoken = heard.filter(({ stderr }) => stderr !== "");
    if (hasNode) expect(spoken).toEqual([]);
    else expect(spoken.map(({ event }) => event)).toEqual(["SessionStart"]);
    const started = heard.find(({ event }) => event === "SessionStart");
    expect(started?.stdout.includes(RUN)).toBe(hasNode && host === "claude");
  });

  const version = `v${process.versions.node}`;
  const managers: readonly (readonly [string, string, (home: string) => Record<string, string>])[] = [
    ["~/.nvm", `.nvm/versions/node/${version}/bin/node`, () => ({})],
    [
      "nvm's folder as it says",
      `n v m/versions/node/${version}/bin/node`,
      (home) => ({ NVM_DIR: join(home, "n v m") }),
    ],
    ["~/.volta", ".volta/bin/node", () => ({})],
    ["fnm", `.local/share/fnm/node-versions/${version}/installation/bin/node`, () => ({})],
    ["mise", `.local/share/mise/installs/node/${process.versions.node}/bin/node`, () => ({})],
    ["Homebrew's folder", "opt/homebrew/bin/node", (home) => ({ ATLAS_NODE_PLACES: join(home, "opt/homebrew/bin") })],
  ];

  test.each(managers)("node nowhere but in %s: answered as ever", async (_name, path, addedOf) => {
    const { heard, slowestMs } = await everyEvent(host, (made) => {
      nodeAt(join(made.home, path));
      return { env: bare(made, addedOf(made.home)) };
    });
    expect(heard).toEqual(await usualOf(host));
    expect(slowestMs).toBeLessThan(timeMsMax);
  });

  test("node nowhere but in ~/.nvm, several of them: the newest that is 20 or newer", async () => {
    const { heard } = await everyEvent(host, (made) => {
      const versions = join(made.home, ".nvm/versions/node");
      for (const older of ["v18.20.4", "v9.99.9", "v20.0.0", "v0.12.18"])
        wrongNodeAt(join(versions, older, "bin/node"));
      nodeAt(join(versions, "v999.0.0/bin/node"));
      return { env: bare(made) };
    });
    expect(heard).toEqual(await usualOf(host));
  });

  describe.each([
    ["no node", () => {}],
    [
      "no node but one that is too old",
      (made: World) => wrongNodeAt(join(made.home, ".nvm/versions/node/v18.20.4/bin/node")),
    ],
  ])("%s", (_name, prepare) => {
    const message = /^atlas: no node found [^\n]+; install Node 20 or newer, or set ATLAS_NODE\n$/;

    test("exit 0 at every event, and one message a session that names the fix", async () => {
      const { heard, made, slowestMs } = await everyEvent(host, (at) => {
        prepare(at);
        return { env: bare(at, host === "claude" ? { CLAUDE_CODE_SESSION_ID: "one" } : {}) };
      });
      expect(heard.map(({ code, stdout }) => ({ code, stdout }))).toEqual(heard.map(() => ({ code: 0, stdout: "" })));
      expect(heard[0]?.stderr).toMatch(message);
      expect(heard.slice(1).map(({ stderr }) => stderr)).toEqual(heard.slice(1).map(() => ""));
      expect(slowestMs).toBeLessThan(timeMsMax);
      if (host === "kimi") return;
      const other = { env: bare(made, { CLAUDE_CODE_SESSION_ID: "two" }) };
      expect((await fire(plugin, made, host, hookOf(plugin, host, "Stop"), other)).stderr).toMatch(message);
    });

    test("and no home to remember it in: a session's start says it, nothing else does", async () => {
      const { heard } = await everyEvent(host, (at) => {
        prepare(at);
        const { HOME: _home, ...rest } = bare(at);
        return { env: rest };
      });
      expect(heard.map(({ code }) => code)).toEqual(heard.map(() => 0));
      expect(heard.filter(({ stderr }) => stderr !== "").map(({ event }) => event)).toEqual(["SessionStart"]);
    });
  });
});

describe.each(hostNames)("%s: plugin, project and home under an odd path", (host) => {
  const odd = join("a b", "ü'x$(touch y)", '"`touch z`;*&|');

  test("answered as ever, every printed command is one a shell takes, and no byte of the path is run", async () => {
    const shipped = await shipPlugin(join(odd, "plugin"));
    try {
      const folder = join(tempFolder(), odd);
      const [project, home] = [join(folder, "project"), join(folder, "home")];
      for (const made of [project, home]) mkdirSync(made, { recursive: true });
      const env = { PATH: process.env.PATH ?? "", HOME: home };
      const state = join(home, ".local", "state", "atlas");
      const made: World = { project, atlas: join(project, ".atlas"), home, state, env };
      writeOwnRun(made.atlas, { stages: ["INIT"] });
      const exportsFile = join(home, "exports.sh");
      const { heard } = await session(shipped, made, host, () => ({ added: { CLAUDE_ENV_FILE: exportsFile } }));
      expect(heard.map(({ code, stderr }) => ({ code, stderr }))).toEqual(heard.map(() => ({ code: 0, stderr: "" })));
      if (host === "claude") {
        expect(heard).toEqual(await usualOf(host));
        expect(readFileSync(exportsFile, "utf8")).toMatch(/^export ATLAS_SESSION_ID=[0-9a-f-]+\n$/);
      }
      const text = heard.map(({ stdout }) => stdout).join("\n");
      expect(text).toContain(RUN);
      const printed = /^Now run: (.+) resume --run/m.exec(text)?.[1];
      if (host === "kimi") {
        const child = spawnSync("/bin/sh", ["-c", `${printed} hook --host nobody`], { env, cwd: project });
        expect({ code: child.status, stderr: child.stderr.toString() }).toEqual({ code: 0, stderr: "" });
      }
      for (const place of [project, shipped.root, home, process.cwd()])
        for (const name of ["y", "z"]) expect(existsSync(join(place, name))).toBe(false);
    } finally {
      shipped.remove();
    }
  });
});

test.each(hostNames)("%s: a node that is too old says so at a session's start, and once", async (host) => {
  const made = world();
  const preload = join(made.home, "old.cjs");
  writeFileSync(
    preload,
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.4" } });',
  );
  const old = join(made.home, "bin", "node");
  mkdirSync(dirname(old));
  writeFileSync(old, `#!/bin/sh\nexec "${process.execPath}" --require "${preload}" "$@"\n`, { mode: 0o755 });
  const { heard } = await session(plugin, made, host, () => ({ added: { PATH: `${dirname(old)}:/usr/bin:/bin` } }));
  const stderr = "atlas: node 18.20.4 is too old; install Node 20 or newer, or set ATLAS_NODE\n";
  expect(heard).toEqual(
    inOrder(plugin, host).map(({ event }) => ({
      event,
      code: 0,
      stdout: "",
      stderr: event === "SessionStart" ? stderr : "",
    })),
  );
  const child = spawnSync(old, [plugin.entry, "status", "--json"], { encoding: "utf8" });
  expect(child.status).toBe(4);
  expect(JSON.parse(child.stdout)).toMatchObject({ error: { code: "install.node" } });
});
