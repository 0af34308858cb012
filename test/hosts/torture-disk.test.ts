import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asUnprivileged, unprivileged } from "../support/hostile-world.ts";
import { RUN, writeOwnRun } from "../support/ledger.ts";
import { keptFolder } from "../support/temp.ts";
import { type HostName, heard, makeWorld, snapshotOf, useKimiAtlasWorld, type World } from "./host-world.ts";
import { fire, hookOf, hostNames, inTime, type Shipped, session, shipPlugin, timeMsMax } from "./shipped.ts";

let plugin: Shipped & { readonly remove: () => void };
beforeAll(async () => {
  plugin = await shipPlugin();
  // For the unprivileged user to enter.
  for (let folder = plugin.root; folder !== dirname(folder); folder = dirname(folder))
    if (lstatSync(folder).uid === process.getuid?.() && folder.includes("atlas-test-")) chmodSync(folder, 0o755);
});
afterAll(() => plugin.remove());

function world(): World {
  const made = makeWorld();
  writeOwnRun(made.atlas, { stages: ["INIT"] });
  return made;
}

function started(host: HostName, said: readonly { event: string; stdout: string }[]): string | null {
  const answer = {
    code: 0,
    stderr: "",
    ms: 0,
    stdout: said.find(({ event }) => event === "SessionStart")?.stdout ?? "",
  };
  return heard(host, "SessionStart", answer);
}

describe.each(hostNames)("%s, at every event it has of us", (host) => {
  test("a read-only file system: the pointer is said all the same, exit 0, in time", async () => {
    const { said, before, after, slowestMs } = await inTime(async () => {
      const made = world();
      const folder = dirname(made.project);
      const mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$PWD" && exec "$@"';
      const under = ["unshare", "-rm", "sh", "-c", mount, folder];
      const proof = spawnSync(under[0] as string, [...under.slice(1), "touch", join(folder, "x")], {
        encoding: "utf8",
      });
      // A machine that makes no name space for us proves nothing here, and must not look as if it did.
      expect(proof.stderr).toMatch(/Read-only file system/);
      const before = snapshotOf(folder);
      const added = { CLAUDE_ENV_FILE: join(made.home, "exports.sh") };
      const done = await session(plugin, made, host, () => ({ under, added }));
      return { said: done.heard, slowestMs: done.slowestMs, before, after: snapshotOf(folder) };
    });
    expect(said.map(({ code, stderr }) => ({ code, stderr }))).toEqual(said.map(() => ({ code: 0, stderr: "" })));
    if (host === "claude") expect(started(host, said)).toContain(`run=${RUN} stage=INIT`);
    expect(after).toEqual(before);
    expect(slowestMs).toBeLessThan(timeMsMax);
  });

  /** What the unprivileged user finds shut, and what is said of it at a session's start. */
  const shut: readonly (readonly [string, (made: World) => string, RegExp | null])[] = [
    [".atlas", (made) => made.atlas, null],
    ["a run", (made) => join(made.atlas, RUN), new RegExp(`run ${RUN} is unreadable \\(ledger.unreadable\\)`)],
    [
      "a log",
      (made) => join(made.atlas, RUN, "log.jsonl"),
      new RegExp(`run ${RUN} is unreadable \\(ledger.unreadable\\)`),
    ],
    ["the markers", (made) => join(made.atlas, ".finished"), new RegExp(`run=${RUN} stage=INIT`)],
    ["a graph", (made) => join(made.atlas, RUN, "plan.dag.json"), new RegExp(`run=${RUN} stage=INIT`)],
    [".git", (made) => join(made.project, ".git"), new RegExp(`run=${RUN} stage=INIT`)],
    [".git/HEAD", (made) => join(made.project, ".git", "HEAD"), new RegExp(`run=${RUN} stage=INIT`)],
    ["git's index", (made) => join(made.project, ".git", "index"), new RegExp(`run=${RUN} stage=INIT`)],
    ["the home", (made) => made.home, new RegExp(`run=${RUN} stage=INIT`)],
    ["the state folder", (made) => made.state, new RegExp(`run=${RUN} stage=INIT`)],
    ["the sessions", (made) => join(made.state, "sessions"), new RegExp(`run=${RUN} stage=INIT`)],
    ["the project", (made) => made.project, null],
  ];

  test.each(shut)(
    "%s that may not be read, as a user who is not root: exit 0, in time",
    async (_name, pathOf, says) => {
      const done = await inTime(async () => {
        const made = makeWorld();
        // An owner of another user counts as alive.
        writeOwnRun(made.atlas, { stages: ["INIT"], owner: null });
        mkdirSync(join(made.atlas, ".finished"));
        for (const [path, text] of [
          [".git/HEAD", "ref: refs/heads/main\n"],
          [".git/index", "DIRC"],
          [`.atlas/${RUN}/plan.dag.json`, "{}"],
        ] as const) {
          mkdirSync(dirname(join(made.project, path)), { recursive: true });
          writeFileSync(join(made.project, path), text);
        }
        for (const name of ["objects", "refs"]) mkdirSync(join(made.project, ".git", name));
        mkdirSync(join(made.state, "sessions"), { recursive: true });
        giveAway(made);
        chmodSync(pathOf(made), 0o000);
        // Root alone could still have read it.
        expect(
          spawnSync("cat", [pathOf(made)], { encoding: "utf8" }).status === 0 && asUnprivileged().length === 0,
        ).toBe(false);
        return session(plugin, made, host, () => ({ under: asUnprivileged() }));
      });
      expect(done.heard.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
        done.heard.map(() => ({ code: 0, stderr: "" })),
      );
      expect(done.slowestMs).toBeLessThan(timeMsMax);
      if (host === "claude" && says === null) expect(started(host, done.heard)).toBeNull();
      if (host === "claude" && says !== null) expect(started(host, done.heard)).toMatch(says);
    },
  );

  test("an original's state that may not be read: the stage is its log's", async () => {
    const made = makeWorld();
    useKimiAtlasWorld(made, "single-05-coded");
    giveAway(made);
    const [run] = readdirSync(made.atlas).filter((name) => !name.startsWith("."));
    chmodSync(join(made.atlas, String(run), "state.json"), 0o000);
    const { heard: said } = await session(plugin, made, host, () => ({ under: asUnprivileged() }));
    expect(said.map(({ code, stderr }) => ({ code, stderr }))).toEqual(said.map(() => ({ code: 0, stderr: "" })));
    if (host === "claude") expect(started(host, said)).toContain("stage=CODED");
  });

  test("a file of exports in a folder that may not be written: answered all the same", async () => {
    const made = makeWorld();
    writeOwnRun(made.atlas, { stages: ["INIT"], owner: null });
    giveAway(made);
    const folder = join(made.home, "exports");
    mkdirSync(folder, { mode: 0o555 });
    const firing = { under: asUnprivileged(), added: { CLAUDE_ENV_FILE: join(folder, "exports.sh") } };
    const answer = await fire(plugin, made, host, hookOf(plugin, host, "SessionStart"), firing);
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(answer.stdout.includes(RUN)).toBe(host === "claude");
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("ten thousand runs, none of them finished", () => {
  const kept = keptFolder();
  const atlas = join(kept.path, "project", ".atlas");
  const count = 10_000;
  beforeAll(() => {
    for (let at = 0; at < count; at += 1) {
      const id = `20250101t000000z-${at.toString(16).padStart(6, "0")}`;
      writeOwnRun(atlas, { id, stages: ["INIT"] });
    }
  }, 120_000);
  afterAll(() => kept.remove(), 120_000);

  test.each(hostNames)("%s: every event is answered in time, and how many there are is said", async (host) => {
    const made = makeWorld();
    const here = { ...made, project: dirname(atlas), atlas };
    const { heard: said, slowestMs } = await inTime(() => session(plugin, here, host));
    expect(said.map(({ code, stderr }) => ({ code, stderr }))).toEqual(said.map(() => ({ code: 0, stderr: "" })));
    expect(slowestMs).toBeLessThan(timeMsMax);
    const event = host === "claude" ? "SessionStart" : "UserPromptSubmit";
    const text = heard(host, event, {
      code: 0,
      stderr: "",
      ms: 0,
      stdout: said.find((one) => one.event === event)?.stdout ?? "",
    });
    expect(text?.split("\n")[0]).toBe(`atlas: ${count} unfinished runs, newest first:`);
    expect(text).toContain(`and ${count - 5} more: `);
  });
});

/** Gives the world, and what lies in it now, to a user who may read nothing that is not his. */
function giveAway(made: World): void {
  const top = dirname(made.project);
  chmodSync(top, 0o755);
  if (process.getuid?.() !== 0) return;
  const give = (path: string): void => {
    chownSync(path, unprivileged, unprivileged);
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) give(join(path, name));
  };
  give(top);
}
