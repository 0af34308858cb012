import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asUnprivileged, call, giveAway, makePlace, type Said } from "../support/hostile-world.ts";
import { writeOwnRun } from "../support/ledger.ts";
import { builtPlugin, gitIn, type Plugin } from "../support/scripted-run.ts";
import { removeFolder } from "../support/temp.ts";

let plugin: Plugin;
beforeAll(async () => {
  plugin = await builtPlugin();
  // Another user runs it too.
  chmodSync(plugin.root, 0o755);
});
afterAll(() => plugin.remove());

/** stdout is one JSON object and a newline, and says what the exit code says. */
function expectSound({ code, stdout, told, json }: Said, exit: number): void {
  expect({ code, stdout }).toMatchObject({ code: exit });
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(typeof json).toBe("object");
  if (exit === 0) return;
  const said = exit === 3 ? told.refused : told.error;
  expect(said?.code).toMatch(/^[a-z]+\.[a-z_]+$/);
  expect(said?.reason).not.toBe("");
  expect(said?.fix).not.toBe("");
  expect(Object.keys(told)).toEqual([exit === 3 ? "refused" : "error"]);
}

describe("words that are off: exit 2, with a code and a fix", () => {
  test.each([
    "status",
    "resume",
    "start",
    "next",
    "submit",
    "answer",
    "verify",
    "fork",
    "report",
    "rollback",
    "graph",
    "ping",
    "abandon",
    "clean",
    "doctor",
    "demo",
  ])(
    "%s",
    async (verb) => {
      const place = makePlace();
      const extra = verb === "start" || verb === "demo" ? ["braid"] : ["more"];
      // A demo looks at nothing here, so no place and no session is wrong for it.
      const here =
        verb === "demo"
          ? []
          : [
              ["--cwd", "/nowhere/at/all"],
              ["--session", "../x"],
            ];
      const words = [["--colour"], extra, ...here];
      const all = await Promise.all(words.map((one) => call(plugin.cli, place, [verb, ...one])));
      for (const said of all) expectSound(said, 2);
      expect(existsSync(place.atlas)).toBe(false);
    },
    60_000,
  );

  test.each([
    ["no verb that exists", ["braid"]],
    ["an object's own words", ["constructor"]],
    ["more of them", ["__proto__"]],
    ["an option for a verb", ["--all"]],
    ["an option without its value", ["status", "--cwd"]],
    ["a value for an option that takes none", ["status", "--all=x"]],
    ["submit without a slot", ["submit"]],
    ["submit with an empty slot", ["submit", "--slot", ""]],
    ["answer without a gate", ["answer", "--choice", "x"]],
    ["answer without a choice", ["answer", "--gate", "output"]],
    ["abandon without a run", ["abandon"]],
    ["start without a packet", ["start", "change"]],
    ["start with two packets", ["start", "change", "--packet", "a", "--text", "b"]],
    ["start with a packet that is not there", ["start", "change", "--packet", "nowhere.json"]],
    ["start with a packet that is a folder", ["start", "change", "--packet", "."]],
    ["start with a packet that never ends", ["start", "change", "--packet", "/dev/zero"]],
    ["a time that is none", ["resume", "--wait", "soon"]],
    ["a time below zero", ["resume", "--wait=-1"]],
    ["a time without end", ["resume", "--wait", "9999999"]],
    ["a session that is a path", ["resume", "--session", "../x"]],
    ["a session of a broken host", ["resume", "--session", "null"]],
  ])("%s", async (_name, words) => {
    const place = makePlace();
    expectSound(await call(plugin.cli, place, words), 2);
    expect(existsSync(place.atlas)).toBe(false);
  });

  test("no verb at all: the help, and exit 2; asked for, exit 0", async () => {
    const place = makePlace();
    expectSound(await call(plugin.cli, place, ["help"]), 0);
    expectSound(await call(plugin.cli, place, ["status", "--help"]), 0);
    expectSound(await call(plugin.cli, place, []), 2);
  });
});

describe("a no that was foreseen: exit 3, with a fix that is a command", () => {
  test.each([
    ["a run that is not there", ["resume", "--run", "20261130t190000z-ffffff"], "run.unknown"],
    ["a run that is a path", ["resume", "--run", "../../etc"], "run.bad_id"],
    ["nothing to go on with", ["next"], "run.none"],
    ["a slot that does not exist", ["submit", "--slot", "braid"], "slot.unknown"],
    ["nothing to abandon", ["abandon", "--run", "20261130t190000z-ffffff"], "run.unknown"],
  ])("%s", async (_name, words, code) => {
    const said = await call(plugin.cli, makePlace(), words);
    expectSound(said, 3);
    expect(said.told.refused?.code).toBe(code);
    expect(said.told.refused?.fix).toMatch(/^atlas [a-z]/);
  });
});

describe("an environment that cannot carry it: exit 4", () => {
  test("no git where there is a repository: looking needs none, opening a run does", async () => {
    const place = makePlace();
    gitIn(place.project, "init", "-q", ".");
    writeFileSync(join(place.project, "p.json"), JSON.stringify({ intent: "x", success_criteria: ["y"] }));
    const { log } = writeOwnRun(place.atlas);
    const before = readFileSync(log);
    const bin = join(place.folder, "bin");
    mkdirSync(bin);
    const env = { PATH: bin };
    const status = await call(plugin.cli, place, ["status"], { env });
    expectSound(status, 0);
    expect(status.told.runs).toHaveLength(1);
    const start = await call(plugin.cli, place, ["start", "change", "--packet", "p.json"], { env });
    expectSound(start, 4);
    expect(start.told.error?.code).toBe("git.missing");
    expect(readFileSync(log)).toEqual(before);
  });

  test("no git is no trouble where there is no repository", async () => {
    const place = makePlace();
    expectSound(await call(plugin.cli, place, ["status"], { env: { PATH: place.folder } }), 0);
  });

  test("a folder that may not be written", async () => {
    const place = makePlace();
    writeFileSync(join(place.project, "p.json"), JSON.stringify({ intent: "x", success_criteria: ["y"] }));
    giveAway(place);
    chmodSync(place.project, 0o555);
    const said = await call(plugin.cli, place, ["start", "change", "--packet", "p.json"], { under: asUnprivileged() });
    expectSound(said, 4);
    expect(said.told.error?.code).toBe("disk.permission");
    expect(said.told.error?.reason).toContain(place.project);
  });

  test("a file system that is read-only: status answers, start and resume say so", async () => {
    const place = makePlace();
    writeFileSync(join(place.project, "p.json"), JSON.stringify({ intent: "x", success_criteria: ["y"] }));
    const { log } = writeOwnRun(place.atlas);
    const before = readFileSync(log);
    const mount = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`;
    const under = ["unshare", "-rm", "sh", "-c", mount, place.project];
    expectSound(await call(plugin.cli, place, ["status"], { under }), 0);
    for (const words of [["resume"], ["start", "change", "--packet", "p.json"]]) {
      const said = await call(plugin.cli, place, words, { under });
      expectSound(said, 4);
      expect(said.told.error?.code).toBe("disk.readonly");
      expect(said.told.error?.reason).toContain("read-only");
    }
    expect(readFileSync(log)).toEqual(before);
  });

  test("a limit of the file size is named, and nothing is lost", async () => {
    const place = makePlace();
    const { log } = writeOwnRun(place.atlas);
    writeFileSync(log, Buffer.concat([readFileSync(log), Buffer.alloc(4096 - readFileSync(log).length, "\n")]));
    const before = readFileSync(log);
    const under = ["sh", "-c", 'ulimit -f 8; exec "$0" "$@"'];
    const said = await call(plugin.cli, place, ["resume"], { under });
    expectSound(said, 4);
    expect(said.told.error?.code).toBe("disk.limit");
    expect(readFileSync(log).subarray(0, before.length)).toEqual(before);
    expectSound(await call(plugin.cli, place, ["status"]), 0);
  });

  test("a limit of open files is named", async () => {
    const place = makePlace();
    writeOwnRun(place.atlas);
    const under = ["sh", "-c", 'ulimit -n 20; exec "$0" "$@"'];
    const said = await call(plugin.cli, place, ["status"], { under });
    // Node itself needs some: with twenty it may not even start.
    if (said.json !== undefined && said.code !== 0) expectSound(said, 4);
  });

  test.each([
    ["verbs.cjs", "verify"],
    ["steps.cjs", "next"],
    ["look.cjs", "status"],
  ])("parts of two builds: %s, which answers %s", async (part, verb) => {
    const other = await builtPlugin();
    const text = readFileSync(join(other.root, "dist", part), "utf8");
    const build = /"([0-9a-f]{12,64})"/.exec(readFileSync(other.cli, "utf8"))?.[1] ?? "";
    expect(text).toContain(build);
    writeFileSync(join(other.root, "dist", part), text.replaceAll(build, "another build"));
    const said = await call(other.cli, makePlace(), [verb]);
    expectSound(said, 4);
    expect(said.told.error?.code).toBe("install.mixed");
    rmSync(join(other.root, "dist", part));
    const broken = await call(other.cli, makePlace(), [verb]);
    expectSound(broken, 4);
    expect(broken.told.error?.code).toBe("install.broken");
    other.remove();
  });
});

describe("a bug: exit 1", () => {
  test("one line, and where the trace is", async () => {
    const place = makePlace();
    const steps = join(plugin.root, "dist", "steps.cjs");
    const broken = join(place.folder, "dist");
    mkdirSync(broken);
    const text = readFileSync(steps, "utf8");
    writeFileSync(join(broken, "atlas.cjs"), readFileSync(plugin.cli));
    const patched = text.replace('"that is not a run id"', "null.oops");
    expect(patched).not.toBe(text);
    writeFileSync(join(broken, "steps.cjs"), patched);
    const said = await call(join(broken, "atlas.cjs"), place, ["resume", "--run", "../x"]);
    expectSound(said, 1);
    expect(said.told.error?.code).toBe("atlas.bug");
    const trace = /trace: (\S+)/.exec(said.stderr)?.[1] ?? "";
    expect(said.stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(readFileSync(trace, "utf8")).toContain("TypeError");
    expect(said.told.error?.fix).toContain(trace);
    removeFolder(join(trace, ".."));
  });
});
