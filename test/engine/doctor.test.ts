/** What the doctor finds: each damage by its own code and with a command, and nothing changed by looking. */
import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeArtifact } from "../../scripts/engine/artifacts.ts";
import type { Engine } from "../../scripts/engine/context.ts";
import { type DoctorWish, doctor } from "../../scripts/engine/doctor.ts";
import type { Check } from "../../scripts/engine/doctor-check.ts";
import { nodeCheck } from "../../scripts/engine/doctor-machine.ts";
import { checkPlaces } from "../../scripts/engine/doctor-places.ts";
import { fileSystemType, suspectType, syncedBy } from "../../scripts/engine/file-systems.ts";
import { loadRun, type RunFolder, writeSnapshot } from "../../scripts/engine/ledger.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { fingerprint } from "../support/adopted-world.ts";
import { type EngineWorld, engineWorld, writeRun } from "../support/engine-world.ts";
import { worldsFolder } from "../support/kimi-atlas.ts";
import { RUN } from "../support/ledger.ts";
import { gitIn } from "../support/scripted-run.ts";

function examined(world: { readonly engine: Engine }, wish: Partial<DoctorWish> = {}): readonly Check[] {
  return doctor(world.engine, { run: null, build: null, canFork: true, timeMs: 60_000, ...wish });
}

const wrong = (checks: readonly Check[]) => checks.filter((check) => !check.ok);
const named = (checks: readonly Check[], name: string) => checks.filter((check) => check.name === name);

/** What is wrong with the ledgers of a world: everything that is not this machine's own. */
function findings(world: EngineWorld, wish: Partial<DoctorWish> = {}) {
  const aboutRuns = /^(ledger|ledgers|snapshot|artifact|marker|tree|finished markers)\b/;
  return wrong(examined(world, wish)).filter((check) => aboutRuns.test(check.name));
}

const packet = `${JSON.stringify({ intent: "x" })}\n`;

/** A run whose ledger names an artifact that lies there. */
function runWithPacket(world: EngineWorld, ended = false) {
  const hash = sha256(packet);
  const opened = { type: "opened", packet: hash, missing: [], assumed: [], hasCommand: false, baseline: null };
  const folder = writeRun(world, { events: [opened], ended });
  writeArtifact(world.engine.fs, folder, { slot: "packet", pass: 0, extension: "json" }, Buffer.from(packet));
  return { folder, artifact: join(folder.ledger, "artifacts", `packet.0.${hash.slice(0, 12)}.json`) };
}

describe("a healthy place", () => {
  test("has nothing wrong with it, says what was looked at, and is not changed", () => {
    const world = engineWorld("atlas $doctor ä'-");
    runWithPacket(world);
    mkdirSync(world.state);
    const before = fingerprint(join(world.project, ".."), ["index"]);
    const checks = examined(world);
    expect(wrong(checks).filter((check) => check.name !== "file system")).toEqual([]);
    for (const name of ["node", "git", "host", "machine id", "installation", "path", "places", "place", "ledgers"]) {
      expect(named(checks, name), name).not.toEqual([]);
    }
    expect(named(checks, "ledgers")[0]?.detail).toContain("1 folded from the first line");
    expect(fingerprint(join(world.project, ".."), ["index"])).toEqual(before);
  });

  test("every finding is one line with a fix, whatever the ledgers hold", () => {
    const world = engineWorld("atlas\nevil-");
    runWithPacket(world, true);
    const hostile = writeRun(world, { id: "hostile", events: [{ type: "tree-wanted\nrm -rf", name: "\u2028" }] });
    expect(existsSync(hostile.ledger)).toBe(true);
    for (const check of examined(world)) {
      expect(`${check.detail}${check.fix ?? ""}`).not.toMatch(/[\n\r\u2028]/);
      if (!check.ok) expect(check.fix).toMatch(/\S/);
    }
  });
});

describe("a damaged ledger", () => {
  const half = (text: string) => text.slice(0, text.length - 40);
  const instead = (place: (log: string) => void) => (log: string) => {
    rmSync(log);
    place(log);
  };
  const abandon = "atlas abandon --run ID";
  const damages: readonly (readonly [string, string, string, (log: string) => void])[] = [
    ["lines in the middle lost", "ledger.chain_broken", "atlas fork --run ID --at 1", (log) => dropLine(log, 1)],
    ["no whole line", "ledger.", abandon, (log) => writeFileSync(log, half(firstLine(log)))],
    ["a folder in its place", "ledger.", abandon, instead((log) => mkdirSync(log))],
    ["a FIFO in its place", "ledger.", abandon, instead((log) => execFileSync("mkfifo", [log]))],
    ["a link in its place", "ledger.", abandon, instead((log) => symlinkSync("/etc/passwd", log))],
    ["NULs behind a good line", "none", "", (log) => appendFileSync(log, Buffer.alloc(5000))],
  ];

  test.each(damages)("with %s is named with the command that mends it", (_, code, fix, damage) => {
    const world = engineWorld();
    const { folder } = runWithPacket(world);
    // Beside its snapshot a ledger is known as ours, whatever became of the log.
    snapshotOf(world, folder);
    damage(join(folder.ledger, "log.jsonl"));
    const before = fingerprint(world.project, ["index"]);
    const found = findings(world);
    if (code === "none") expect(found).toEqual([]);
    else {
      expect(found.map((check) => check.name)).toEqual([`ledger ${RUN}`]);
      expect(found[0]?.detail).toContain(code);
      expect(found[0]?.fix).toBe(fix.replace("ID", RUN));
    }
    expect(fingerprint(world.project, ["index"])).toEqual(before);
  });

  test("its folder being a link is named, and what it leads to is not read", () => {
    const world = engineWorld();
    const other = engineWorld();
    writeRun(other);
    symlinkSync(join(other.atlas, RUN), join(world.atlas, RUN));
    expect(findings(world).map(({ name, fix }) => [name, fix])).toEqual([
      [`ledger ${RUN}`, `atlas abandon --run ${RUN}`],
    ]);
  });

  test("a newer atlas's is told apart: nothing is to be mended in it", () => {
    const world = engineWorld();
    const folder = writeRun(world);
    appendFileSync(join(folder.ledger, "log.jsonl"), "");
    writeRun(world, {
      events: [{ type: "claimed", epoch: 2, version: 99, owner: null, carried: [], exclusive: false }],
    });
    expect(findings(world).map(({ detail, fix }) => [detail.split(":")[0], fix])).toEqual([
      ["ledger.newer", "update the atlas plugin"],
    ]);
  });

  test("a snapshot that says something else than the lines is found, though the other verbs believe it", () => {
    const world = engineWorld();
    const { folder } = runWithPacket(world);
    const loaded = snapshotOf(world, folder);
    expect(findings(world)).toEqual([]);
    writeSnapshot(world.engine.fs, { ...loaded, state: { ...loaded.state, hasCommand: true } as never });
    expect(findings(world).map(({ name }) => name)).toEqual([`snapshot ${RUN}`]);
    expect(findings(world)[0]?.fix).toContain("snapshot.json");
  });

  test("a changed artifact and a missing one are found, each with its slot", () => {
    const world = engineWorld();
    const { artifact } = runWithPacket(world);
    writeFileSync(artifact, "{}\n");
    expect(findings(world).map(({ name, detail }) => [name, detail])).toEqual([
      [`artifact ${RUN}`, "packet.0 holds other bytes than the ledger names"],
    ]);
    rmSync(artifact);
    expect(findings(world)[0]?.detail).toBe("packet.0 is missing");
  });

  test("a recorded tree that is not there is found while its run goes on", () => {
    const world = engineWorld();
    const tree = { name: "e1.1", from: null, foreign: false };
    writeRun(world, {
      events: [
        { type: "tree-wanted", ...tree },
        { type: "tree-ready", name: "e1.1" },
      ],
    });
    expect(findings(world).map(({ name, fix }) => [name, fix])).toEqual([[`tree ${RUN}`, `atlas resume --run ${RUN}`]]);
  });

  test("an original's run that cannot be adopted is named with its reason, a good one is counted", () => {
    const world = engineWorld();
    for (const name of ["damaged-torn-dag", "select-many"]) {
      cpSync(join(worldsFolder, name, ".atlas"), world.atlas, { recursive: true });
    }
    const found = findings(world);
    expect(found).toHaveLength(1);
    expect(found[0]?.detail).toContain("unreadable");
    expect(named(examined(world), "ledgers")[0]?.detail).toMatch(/[1-9]\d* of the original's readable/);
  });

  test("--run looks at that run alone, and an unknown one is said", () => {
    const world = engineWorld();
    const { artifact } = runWithPacket(world);
    writeFileSync(artifact, "{}\n");
    writeRun(world, { id: "other" });
    expect(findings(world, { run: "other" })).toEqual([]);
    expect(findings(world, { run: RUN })).toHaveLength(1);
    expect(findings(world, { run: "nobody" }).map(({ detail }) => detail)).toEqual(["there is no run of that id here"]);
  });

  test("what there was no time for is counted, not passed over as good", () => {
    const world = engineWorld();
    for (let at = 0; at < 5; at += 1) writeRun(world, { id: `run-${at}` });
    const checks = examined(world, { timeMs: -1 });
    expect(named(checks, "ledgers").map(({ ok, detail }) => [ok, Number.parseInt(detail, 10)])).toEqual([
      [true, 0],
      [false, 5],
    ]);
  });
});

describe("finished markers", () => {
  test("one of a run that goes on is named and left, and a lost one is named before a listing mends it", () => {
    const world = engineWorld();
    writeRun(world, { id: "going-on" });
    writeRun(world, { id: "ended", ended: true });
    const marks = join(world.atlas, ".finished");
    mkdirSync(marks);
    writeFileSync(join(marks, "going-on"), "");
    expect(findings(world).map(({ name, fix }) => [name, fix])).toEqual([
      ["marker ended", "atlas status"],
      ["marker going-on", "atlas abandon --run going-on"],
    ]);
    expect(existsSync(join(marks, "going-on"))).toBe(true);
    expect(existsSync(join(marks, "ended"))).toBe(false);
  });
});

describe("places and what they lie on", () => {
  test("a link, a file and a tracked .atlas are named and not read", () => {
    const linked = engineWorld();
    rmSync(linked.atlas, { recursive: true });
    symlinkSync(engineWorld().atlas, linked.atlas);
    expect(wrong(named(examined(linked), "place"))[0]?.detail).toContain("is a link");
    rmSync(linked.atlas);
    writeFileSync(linked.atlas, "");
    expect(wrong(named(examined(linked), "place"))[0]?.detail).toContain("is not a folder");

    const tracked = engineWorld();
    writeRun(tracked);
    gitIn(tracked.project, "add", "-f", ".atlas");
    const checks = examined(tracked);
    expect(wrong(named(checks, "tracked"))[0]?.fix).toBe("git rm -r --cached .atlas");
    expect(wrong(named(checks, `ledger ${RUN}`))[0]?.fix).toBe(`atlas resume --run ${RUN} --trust`);
  });

  const mounts = [
    "22 27 0:21 / / rw,relatime - ext4 /dev/sda1 rw",
    "23 22 0:22 / /media/share rw - nfs4 server:/x rw",
    "24 22 0:23 / /media/c rw - 9p drvfs rw,aname=drvfs",
    "25 22 0:24 / /media/a\\040b rw shared:1 - fuse.sshfs host rw",
    "26 22 0:25 / /media/share/local rw - xfs /dev/sdb rw",
    "27 22 0:26 / /media/win rw - cifs //s/x rw",
    "torn line",
  ].join("\n");

  test.each([
    ["/home/dev/project", "ext4", null],
    ["/media/share/p", "nfs4", "NFS"],
    ["/media/sharer", "ext4", null],
    ["/media/share/local/p", "xfs", null],
    ["/media/c/p", "drvfs", "drvfs"],
    ["/media/a b", "fuse.sshfs", "fuse"],
    ["/media/win/x", "cifs", "CIFS"],
  ])("%s lies on %s", (path, type, suspect) => {
    expect(fileSystemType(mounts, path)).toBe(type);
    expect(suspectType(type)).toBe(suspect);
  });

  test.each([
    ["/home/dev/Dropbox/p", "Dropbox"],
    ["/home/dev/OneDrive - Some Firm/p", "OneDrive"],
    ["/Users/dev/Library/Mobile Documents/com~apple~CloudDocs/p", "iCloud"],
    ["/home/dev/dropboxer/p", null],
  ])("%s is rewritten by %s", (path, service) => {
    expect(syncedBy(path)).toBe(service);
  });

  test("a place on a network file system is a warning that names it", () => {
    const world = engineWorld();
    const seen = {
      places: [{ root: world.project, atlas: world.atlas, trusted: true }],
      searched: [world.project],
      inRepository: true,
    };
    const table = `1 0 0:1 / ${world.project} rw - nfs server:/x rw`;
    const found = wrong(checkPlaces(world.engine, seen, table));
    expect(found.map(({ name, detail }) => [name, detail.includes("warning") && detail.includes("NFS")])).toEqual([
      ["file system", true],
    ]);
  });

  test("a place that cannot be written is named by what the system said", () => {
    const world = engineWorld();
    const { fs } = world.engine;
    const full: Engine["fs"] = {
      ...fs,
      openSync(path, flags, mode) {
        if (path.startsWith(join(world.atlas, ".tmp-"))) throw Object.assign(new Error("no"), { code: "EROFS" });
        return fs.openSync(path, flags, mode);
      },
    };
    const found = wrong(named(examined({ engine: { ...world.engine, fs: full } }), "place"));
    expect(found.map(({ detail }) => detail.includes("disk.readonly"))).toEqual([true]);
  });
});

describe("what the program stands on", () => {
  const withEnvironment = (world: EngineWorld, more: Engine["environment"]) => ({
    engine: { ...world.engine, environment: { ...world.engine.environment, ...more } },
  });

  test("an old node, a missing git and a host that cannot be told are each named with what helps", () => {
    expect([nodeCheck("18.20.1").ok, nodeCheck("20.0.0").ok]).toEqual([false, true]);
    const world = engineWorld();
    const { engine } = world;
    const old = {
      ...engine,
      git: { run: () => ({ code: 0, stdout: Buffer.from("git version 2.30.2\n"), stderr: "" }) },
    };
    expect(wrong(named(examined({ engine: old }), "git"))[0]?.fix).toBe("install git 2.31 or newer");
    const nobody = { ...engine, self: { ...engine.self, pid: null, start: null } };
    expect(wrong(named(examined({ engine: nobody }), "host"))).toHaveLength(1);
    const place = { ...engine.processes.place, machine: null };
    const anonymous = { ...engine, processes: { ...engine.processes, place } };
    expect(wrong(named(examined({ engine: anonymous }), "machine id"))[0]?.fix).toContain("ATLAS_EXCLUSIVE=1");
    expect(wrong(named(examined({ engine: { ...anonymous, exclusive: true } }), "machine id"))).toEqual([]);
  });

  test("a part of another build, a launcher with CRLF and a torn manifest are named", () => {
    const world = engineWorld();
    const root = join(world.project, "..", "plugin");
    for (const name of ["dist", "hooks", ".claude-plugin", ".kimi-plugin"])
      mkdirSync(join(root, name), { recursive: true });
    const write = (name: string, text: string) => writeFileSync(join(root, name), text);
    const manifests = ["plugin.json", ".claude-plugin/plugin.json", ".kimi-plugin/plugin.json", "hooks/hooks.json"];
    for (const name of manifests) write(name, "{}");
    for (const name of ["atlas", "look", "steps", "verbs"]) write(`dist/${name}.cjs`, "build-one");
    write("hooks/run", "#!/bin/sh\nexit 0\n");
    const about = (build: string) =>
      wrong(named(examined({ engine: { ...world.engine, pluginRoot: root } }, { build }), "installation"));
    expect(about("build-one")).toEqual([]);
    write("dist/atlas.cjs", "build-two");
    write("hooks/run", "#!/bin/sh\r\nexit 0\r\n");
    write("plugin.json", '{"name":');
    expect(about("build-one").map(({ detail }) => detail.split(" ")[0])).toEqual([
      "dist/atlas.cjs",
      "hooks/run",
      "plugin.json",
    ]);
    write("hooks/run", "#!/bin/sh\nif then\n");
    expect(about("build-one").some(({ detail }) => detail.includes("cannot be read by sh"))).toBe(true);
  });

  test("variables that lead nowhere and a state folder that is no folder are named", () => {
    const world = engineWorld();
    const set = { CLAUDE_ENV_FILE: join(world.project, "no", "such"), CLAUDE_PLUGIN_ROOT: world.project };
    expect(wrong(named(examined(withEnvironment(world, set)), "environment"))).toHaveLength(2);
    const sound = { CLAUDE_ENV_FILE: join(world.project, "new.sh"), CLAUDE_PLUGIN_ROOT: world.engine.pluginRoot };
    expect(wrong(named(examined(withEnvironment(world, sound)), "environment"))).toEqual([]);
    expect(existsSync(sound.CLAUDE_ENV_FILE)).toBe(false);
    expect(named(examined(world), "state folder")[0]?.ok).toBe(true);
    expect(existsSync(world.state)).toBe(false);
    writeFileSync(world.state, "");
    expect(wrong(named(examined(world), "state folder"))).toHaveLength(1);
  });
});

function snapshotOf(world: EngineWorld, folder: RunFolder) {
  const read = loadRun(world.engine.fs, folder, false);
  if (!read.ok) throw new Error(read.unreadable.reason);
  writeSnapshot(world.engine.fs, read.loaded);
  return read.loaded;
}

function firstLine(log: string): string {
  return readFileSync(log, "utf8").trimStart().split("\n")[0] as string;
}

function dropLine(log: string, at: number): void {
  const lines = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "");
  writeFileSync(
    log,
    lines
      .filter((_, index) => index !== at)
      .map((line) => `\n${line}\n`)
      .join(""),
  );
}
