import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildBundles } from "../../scripts/build/bundle.ts";
import { type CliResult, cliEnvironment, repositoryRoot } from "../support/run-cli.ts";
import { keptFolder, removeFolder, tempFolder } from "../support/temp.ts";

/** The plugin as a host may have it: under a path that a careless command line would take apart. */
const home = keptFolder('a plug-in\'s "home" $(x) ü ');
const plugin = join(home.path, "atlas");

beforeAll(async () => {
  mkdirSync(plugin);
  await buildBundles(repositoryRoot, join(plugin, "dist"));
  for (const name of ["references", "skills"]) symlinkSync(join(repositoryRoot, name), join(plugin, name));
});

afterAll(() => home.remove());

interface Started {
  readonly child: ChildProcess;
  /** Resolves once the narration holds the text: a barrier. */
  said(text: string): Promise<void>;
  readonly done: Promise<Omit<CliResult, "json">>;
}

interface Around {
  readonly temporary: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly root?: string;
}

function startDemo(words: readonly string[], { temporary, cwd, env, root = plugin }: Around): Started {
  const child = spawn(process.execPath, [join(root, "dist", "atlas.cjs"), "demo", ...words], {
    cwd,
    env: cliEnvironment({ TMPDIR: temporary, ...env }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  let heard = (): void => {};
  child.stdout.setEncoding("utf8").on("data", (piece: string) => {
    stdout += piece;
    heard();
  });
  child.stderr.setEncoding("utf8").on("data", (piece: string) => {
    stderr += piece;
  });
  const deadline = setTimeout(() => child.kill("SIGKILL"), 50_000);
  const done = new Promise<Omit<CliResult, "json">>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(deadline);
      heard();
      resolve({ code, signal, stdout, stderr });
    });
  });
  const said = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      heard = () => {
        if (stdout.includes(text)) resolve();
        else if (child.exitCode !== null) reject(new Error(`it ended without saying ${text}: ${stdout}${stderr}`));
      };
      heard();
    });
  return { child, said, done };
}

/** Command line and environment of every living process that names the text. */
function processesNaming(text: string): readonly string[] {
  if (process.platform !== "linux") {
    const listed = spawnSync("ps", ["-A", "-ww", "-E", "-o", "command="], { encoding: "utf8" });
    return listed.stdout.split("\n").filter((line) => line.includes(text));
  }
  return readdirSync("/proc").filter((pid) => {
    try {
      const of = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8");
      return /^\d+$/.test(pid) && (of("cmdline").includes(text) || of("environ").includes(text));
    } catch {
      return false;
    }
  });
}

function expectNothingLeft(temporary: string): void {
  expect(readdirSync(temporary)).toEqual([]);
  expect(processesNaming(temporary)).toEqual([]);
}

describe("the demo", () => {
  test("shows the run, the kill, the pointer, the resume and the end, and leaves nothing", async () => {
    const [temporary, cwd, foreign] = [tempFolder("tmp it's "), tempFolder("empty-"), tempFolder("foreign-")];
    writeFileSync(
      join(foreign, ".gitconfig"),
      "[core]\n\thooksPath = /nonexistent\n[commit]\n\tgpgSign = true\n[broken\n",
    );
    const env = {
      HOME: foreign,
      XDG_STATE_HOME: join(foreign, "state"),
      GIT_DIR: "/nonexistent",
      GIT_CONFIG_GLOBAL: join(foreign, ".gitconfig"),
      CLAUDE_PID: "1",
      CLAUDE_CODE_SESSION_ID: "another-session",
      KIMI_SESSION_ID: "another-session",
      ATLAS_SESSION_ID: "another-session",
      ATLAS_POINTER: "prompt",
      NODE_OPTIONS: "--no-deprecation",
      NODE_TEST_CONTEXT: "child-v8",
    };
    const { code, stdout, stderr } = await startDemo([], { temporary, cwd, env }).done;
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });

    const run = /opened run (\d{8}t\d{6}z-[0-9a-f]{6})$/m.exec(stdout)?.[1] as string;
    const killed = /^2\. SIGKILL to process (\d+)/m.exec(stdout)?.[1];
    expect(stdout).toContain(`process ${killed} plays Claude Code`);
    const bytes = /^ {4}\| (\{.*\})$/m.exec(stdout)?.[1] as string;
    const pointer = (JSON.parse(bytes) as { hookSpecificOutput: { additionalContext: string } }).hookSpecificOutput;
    expect(pointer).toMatchObject({ hookEventName: "SessionStart" });
    expect(pointer.additionalContext.split("\n").slice(0, 2)).toEqual([
      `atlas: unfinished run. kind=change run=${run} stage=GROUNDED refine=0/2 done=4/8 owner=gone`,
      `Now run: atlas resume --run ${run}`,
    ]);
    for (const line of pointer.additionalContext.split("\n")) expect(stdout).toContain(`    | ${line}\n`);
    const resumed = stdout.slice(stdout.indexOf("4. It runs what the pointer names"));
    expect(resumed).toContain(`$           atlas resume --run ${run}\n`);
    expect(resumed).toContain("claimed epoch 2, ended coder#1@1 (lost), keep-tree:e1.1");
    expect(resumed).toContain(`refs/atlas/${run}/e2/kept/`);
    expect(resumed).toContain("not redone  INIT INTENT_CAPTURED TRIAGED GROUNDED;");
    expect(resumed).not.toContain("context-scout");
    expect(resumed).toContain("label       VERIFIED\n");
    expect(resumed).toContain("6 leases of 48 gas; leased twice: coder; stages redone: 0");

    expectNothingLeft(temporary);
    expect(readdirSync(cwd)).toEqual([]);
    expect(readdirSync(foreign)).toEqual([".gitconfig"]);
  });

  test("says the same as one JSON object, from a folder nobody may write to", async () => {
    const [temporary, cwd] = [tempFolder(), tempFolder("read-only-")];
    chmodSync(cwd, 0o555);
    const { code, stdout } = await startDemo(["change", "--json"], { temporary, cwd }).done;
    expect(code, stdout).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      demo: {
        kept: expect.stringMatching(/^refs\/atlas\/.*\/kept\//),
        label: "VERIFIED",
        leases: { scout: 1, coder: 2, correctness: 1, "code-quality": 1, security: 1 },
      },
    });
    expectNothingLeft(temporary);
    expect(readdirSync(cwd)).toEqual([]);
  });

  test.each([
    ["weave", 2, "usage.kind"],
    ["change change", 2, "usage.kind"],
  ])("of %s is a usage error, and nothing is made", async (words, exit, why) => {
    const temporary = tempFolder();
    const { code, stdout, stderr } = await startDemo(words.split(" "), { temporary, cwd: temporary }).done;
    expect({ code, stdout }).toEqual({ code: exit, stdout: "" });
    expect(stderr).toContain(why);
    expectNothingLeft(temporary);
  });

  test.each([
    ["SIGINT", 130, "plays Claude Code"],
    ["SIGTERM", 143, "elite-coder started"],
    ["SIGINT", 130, "took coder"],
  ] as const)('stopped by %s leaves nothing: exit %i after "%s"', async (signal, exit, barrier) => {
    const temporary = tempFolder();
    const demo = startDemo([], { temporary, cwd: temporary });
    await demo.said(barrier);
    demo.child.kill(signal);
    const { code, stdout, stderr } = await demo.done;
    expect({ code, stderr }).toEqual({ code: exit, stderr: `atlas demo: stopped by ${signal}; nothing is left\n` });
    expect(stdout).not.toContain("5. The end");
    expectNothingLeft(temporary);
  });

  test("killed itself, it leaves no process behind", async () => {
    const temporary = tempFolder();
    const demo = startDemo([], { temporary, cwd: temporary });
    await demo.said("elite-coder started");
    expect(processesNaming(temporary).length).toBeGreaterThan(1);
    demo.child.kill("SIGKILL");
    await demo.done;
    await expect.poll(() => processesNaming(temporary), { timeout: 10_000 }).toEqual([]);
  });

  test.each([
    ["a pointer to another command", "atlas.cjs", "Now run: ", "Now_run: ", "not so: the pointer names"],
    ["a coder who mends it wrongly", "demo-host.cjs", '"at < prices.length"', '"at < 2"', "not so: the run measured"],
  ])("fails on %s, says so, and leaves nothing", async (_what, name, from, to, why) => {
    const [temporary, root] = [tempFolder(), tempFolder("broken-")];
    cpSync(join(plugin, "dist"), join(root, "dist"), { recursive: true });
    for (const each of ["references", "skills"]) symlinkSync(join(repositoryRoot, each), join(root, each));
    const path = join(root, "dist", name);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replaceAll(from, to));
    const { code, stderr } = await startDemo([], { temporary, cwd: temporary, root }).done;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(why) });
    expectNothingLeft(temporary);
  });

  test("of a half installation is refused before anything is made", async () => {
    const [temporary, root] = [tempFolder(), tempFolder("half-")];
    cpSync(join(plugin, "dist"), join(root, "dist"), { recursive: true });
    rmSync(join(root, "dist", "demo-host.cjs"));
    const { code, stderr } = await startDemo([], { temporary, cwd: temporary, root }).done;
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("install.broken") });
    expectNothingLeft(temporary);
  });

  test("without a temporary folder is the environment's fault", async () => {
    const temporary = tempFolder();
    removeFolder(temporary);
    const { code, stderr } = await startDemo([], { temporary, cwd: repositoryRoot }).done;
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("demo.no_folder") });
  });
});
