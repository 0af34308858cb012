import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownerOf, writeOwnRun } from "../support/ledger.ts";
import { type HostName, keptPlugin, makeWorld, payloadOf, runHook, snapshotOf, startHook } from "./host-world.ts";

let plugin: Awaited<ReturnType<typeof keptPlugin>>;
beforeAll(async () => {
  plugin = await keptPlugin();
});
afterAll(() => plugin.remove());

const missing = Symbol("missing");
const bad: readonly (readonly [string, unknown])[] = [
  ["missing", missing],
  ["empty", ""],
  ['"null"', "null"],
  ["null", null],
  ["a number", 12],
  ["300 characters", "a".repeat(300)],
  ["../x", "../x"],
  ["with a newline", "abc\ndef"],
  ["with a trailing newline", "abc\n"],
  ["an option", "--run"],
  ["with a NUL", "a\0b"],
  ["a list", ["x"]],
];

describe.each(["claude", "kimi"] as const)("%s: a session id that proves nothing", (host: HostName) => {
  test.each(bad)("%s: nothing said, exported or written, one line, exit 1", (_name, id) => {
    const world = makeWorld();
    writeOwnRun(world.atlas, { stages: ["INIT"], owner: ownerOf(process.pid, String(id)) });
    const exports = join(world.home, "exports.sh");
    const before = snapshotOf(world.project);
    for (const on of ["SessionStart", "SessionEnd"]) {
      const payload: Record<string, unknown> = payloadOf(host, on, world, { source: "startup", session_id: id });
      if (id === missing) delete payload.session_id;
      const answer = runHook(plugin, world, host, on, payload, { CLAUDE_ENV_FILE: exports });
      expect(answer.stdout).toBe("");
      expect(answer.stderr).toMatch(/^ATLAS-PRECONDITION-FAILED: session_id is (missing|empty|malformed); [^\n]*\n$/);
      expect(answer.code).toBe(1);
    }
    expect(existsSync(exports)).toBe(false);
    expect(existsSync(world.state)).toBe(false);
    expect(snapshotOf(world.project)).toEqual(before);
  });

  test.each([
    ["an unknown event", "Frobnicate", {}],
    ["an event nobody registered", "Stop", {}],
    ["no cwd", "SessionStart", { cwd: undefined }],
    ["a cwd that is no path", "SessionStart", { cwd: 7 }],
    ["a relative cwd", "SessionStart", { cwd: "." }],
  ])("%s: nothing, exit 0", (_name, on, change) => {
    const world = makeWorld();
    writeOwnRun(world.atlas, { stages: ["INIT"] });
    const payload = { ...payloadOf(host, on, world), source: "startup", ...change };
    expect(runHook(plugin, world, host, on, payload)).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });
});

test("a host nobody knows, and no words at all: nothing, exit 0 (2 would block the host)", () => {
  const world = makeWorld();
  expect(runHook(plugin, world, "vim" as HostName, "SessionStart", {})).toMatchObject({ code: 0, stdout: "" });
});

describe("stdin", () => {
  function world() {
    const made = makeWorld();
    writeOwnRun(made.atlas, { stages: ["INIT"] });
    return made;
  }

  test("that never closes: the first complete value is acted on at once", async () => {
    const made = world();
    const { stdin, answer } = startHook(plugin, made, "claude", "SessionStart");
    const text = JSON.stringify(payloadOf("claude", "SessionStart", made, { source: "startup", odd: '}"\\{' }));
    stdin.write(text.slice(0, 20));
    setTimeout(() => stdin.write(text.slice(20)), 50);
    const { code, stdout, ms } = await answer;
    expect(code).toBe(0);
    expect(stdout).toContain("atlas: unfinished run.");
    expect(ms).toBeLessThan(1400);
  });

  test("that never says anything, or never finishes a value: silence within two seconds", async () => {
    const answers = ["", '{"session_id":"abc'].map((text) => {
      const { stdin, answer } = startHook(plugin, world(), "kimi", "SessionStart");
      if (text !== "") stdin.write(text);
      return answer;
    });
    for (const { code, stdout, stderr, ms } of await Promise.all(answers)) {
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(ms).toBeLessThan(2500);
    }
  });

  test("that is closed, empty, garbage, too deep or too large: silence", () => {
    const deep = `{"a":${"[".repeat(2_000_000)}`;
    const large = `{"session_id":"abc","x":"${"y".repeat(9 * 1024 * 1024)}"}`;
    for (const text of ["", "   \n", "garbage", "[1,2", '"text', "}", "\0\0\0", '{"a":}', deep, large, "\ufeff"]) {
      const answer = runHook(plugin, world(), "claude", "SessionStart", text);
      expect({ text: text.slice(0, 20), ...answer, ms: 0 }).toEqual({
        text: text.slice(0, 20),
        code: 0,
        stdout: "",
        stderr: "",
        ms: 0,
      });
    }
  });

  test("through node's documented stream, where its pipe handle is not to be used: the same answer", () => {
    const made = world();
    const text = JSON.stringify(payloadOf("claude", "SessionStart", made, { source: "startup" }));
    const file = join(made.home, "payload.json");
    writeFileSync(file, text);
    const argv = [plugin.entry, "hook", "--host", "claude", "--on", "SessionStart"];
    const options = { cwd: made.project, env: made.env, encoding: "utf8" } as const;
    const direct = spawnSync(process.execPath, argv, { ...options, input: text });
    const streamed = spawnSync(process.execPath, ["--pending-deprecation", ...argv], { ...options, input: text });
    const fromFile = spawnSync("/bin/sh", ["-c", '"$0" "$@" <payload.json', process.execPath, ...argv], {
      ...options,
      cwd: made.home,
    });
    const piped = spawnSync("/bin/sh", ["-c", 'cat payload.json | "$0" "$@"', process.execPath, ...argv], {
      ...options,
      cwd: made.home,
    });
    expect(direct.stdout).toContain("atlas: unfinished run.");
    for (const child of [streamed, fromFile, piped]) {
      expect(child.stdout).toBe(direct.stdout);
      expect({ code: child.status, stderr: child.stderr }).toEqual({ code: 0, stderr: "" });
    }
    const closed = spawnSync("/bin/sh", ["-c", '"$0" "$@" <&-', process.execPath, ...argv], options);
    expect({ code: closed.status, stdout: closed.stdout, stderr: closed.stderr }).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  test("of five megabytes, with a byte order mark, or with a second value behind: answered", () => {
    const made = world();
    const payload = payloadOf("claude", "SessionStart", made, { source: "startup" });
    const texts = [
      JSON.stringify({ pad: "ü".repeat(2_600_000), ...payload }),
      `\ufeff${JSON.stringify(payload)}`,
      `${JSON.stringify(payload)}{"session_id":""}`,
      `\n${JSON.stringify(payload, null, 2)} trailing`,
    ];
    for (const text of texts) {
      const answer = runHook(plugin, made, "claude", "SessionStart", text);
      expect(answer.stdout).toContain("atlas: unfinished run.");
      expect(answer.code).toBe(0);
    }
  });
});

test("the same hook fired twice at once: both answer alike, one record, one export", async () => {
  const world = makeWorld();
  writeOwnRun(world.atlas, { stages: ["INIT"] });
  const payload = JSON.stringify(payloadOf("claude", "SessionStart", world, { source: "startup" }));
  const hooks = [1, 2, 3, 4].map(() => startHook(plugin, world, "claude", "SessionStart"));
  for (const { stdin } of hooks) stdin.end(payload);
  const answers = await Promise.all(hooks.map(({ answer }) => answer));
  expect(new Set(answers.map(({ stdout }) => stdout)).size).toBe(1);
  expect(answers.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const record = join(world.state, "sessions", "11111111-2222-4333-8444-555555555555.json");
  expect(JSON.parse(readFileSync(record, "utf8"))).toMatchObject({ cwd: world.project, pid: process.pid });
});
