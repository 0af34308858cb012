import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunId } from "../../scripts/core/ids.ts";
import type { EventBase } from "../../scripts/core/kind.ts";
import { readChain } from "../../scripts/core/line.ts";
import { loadRun, writeSnapshot } from "../../scripts/engine/ledger.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { asUnprivileged, call, giveAway, makePlace, type Place, picture, type Said } from "../support/hostile-world.ts";
import { bornEvent, claimedEvent, goneOwner, type LineSpec, RUN, sealedLog, writeOwnRun } from "../support/ledger.ts";
import { builtPlugin, gitIn, type Plugin, request } from "../support/scripted-run.ts";
import { keptFolder } from "../support/temp.ts";

let plugin: Plugin;
/** A real run that stands at the coder's hand-out: every file and folder a run can have lies in it. */
let model: { readonly path: string; readonly remove: () => void };

beforeAll(async () => {
  plugin = await builtPlugin();
  chmodSync(plugin.root, 0o755);
  model = keptFolder("atlas-model-");
  await bringUp(model.path);
});
afterAll(() => {
  model.remove();
  plugin.remove();
});

/** Opens a run in `project` without git and leads it to its scout. */
async function bringUp(project: string): Promise<void> {
  const place: Place = { folder: project, project, atlas: join(project, ".atlas"), env: {} };
  writeFileSync(join(project, "p.json"), JSON.stringify(request));
  const opened = await call(plugin.cli, place, ["start", "change", "--packet", "p.json"]);
  const { next } = opened.told as { readonly next: { readonly result: string; readonly then: string } };
  writeFileSync(next.result, '{"archetype":"bugfix"}');
  const handed = await call(plugin.cli, place, next.then.split(" ").slice(1));
  expect(handed.told).toMatchObject({ next: { do: "dispatch" } });
}

interface Victim {
  readonly place: Place;
  readonly id: string;
  readonly run: string;
}

/** A copy of the model; its owner, the test's own process, is as alive there as here. */
function victim(name?: string): Victim {
  const place = makePlace(name);
  cpSync(join(model.path, ".atlas"), place.atlas, { recursive: true });
  const id = readdirSync(place.atlas).find((entry) => !entry.startsWith("."))!;
  const run = join(place.atlas, id);
  settleIn(place, id as RunId, run);
  return { place, id, run };
}

/** A run that lies elsewhere than it was born is refused, so the copy is born where it lies: the same lines, sealed anew. */
function settleIn(place: Place, id: RunId, ledger: string): void {
  const { lines } = readChain<EventBase>(readFileSync(join(ledger, "log.jsonl")), sha256);
  const specs = lines.map(({ stage, ts, events }) => ({
    ...(stage === undefined ? {} : { stage }),
    ts,
    events: events.map((event) => (event.type === "born" ? { ...event, root: place.project } : event)),
  }));
  writeFileSync(join(ledger, "log.jsonl"), sealedLog(id, specs as readonly LineSpec[]));
  rmSync(join(ledger, "snapshot.json"));
  const read = loadRun(realFileSystem, { id, root: place.project, atlas: place.atlas, ledger, adopted: false });
  if (!read.ok) throw new Error(read.unreadable.reason);
  writeSnapshot(realFileSystem, read.loaded);
}

const deep = "[".repeat(100_000);

/** What may stand where a file should be. */
const shapes: Readonly<Record<string, (path: string) => void>> = {
  "a link": (path) => replaced(path, () => symlinkSync("/etc/passwd", path)),
  "a link to itself": (path) => replaced(path, () => symlinkSync(path, path)),
  "a FIFO": (path) => replaced(path, () => execFileSync("mkfifo", [path])),
  "a folder": (path) => replaced(path, () => mkdirSync(path)),
  "200 MB": (path) => truncateSync(path, 200_000_000),
  "zero bytes": (path) => truncateSync(path, 0),
  NULs: (path) => writeFileSync(path, Buffer.alloc(10_000)),
  "deep JSON": (path) => writeFileSync(path, deep),
  "deep JSON in an object": (path) => writeFileSync(path, `{"stage":${deep}`),
  "JSON of the wrong shape": (path) => writeFileSync(path, '[1,"x",null,{"run_id":7}]\n'),
  "a byte order mark before it": (path) => writeFileSync(path, Buffer.concat([mark, readFileSync(path)])),
  "CRLF line ends": (path) => writeFileSync(path, readFileSync(path, "utf8").replaceAll("\n", "\r\n")),
};
const mark = Buffer.from([0xef, 0xbb, 0xbf]);

function replaced(path: string, make: () => void): void {
  rmSync(path, { recursive: true, force: true });
  make();
}

/** Every verb that looks at a run, and the claim's own. */
function verbsFor(id: string): readonly (readonly string[])[] {
  return [
    ["status"],
    ["next", "--run", id],
    // Its agent is out: the plan is nobody's yet, so nothing is waited for.
    ["submit", "--run", id, "--slot", "plan"],
    ["resume", "--run", id],
    ["resume"],
    ["abandon", "--run", id],
  ];
}

/** One after the other, as a model would try. */
async function tryAll(one: Victim, under: readonly string[] = []): Promise<readonly Said[]> {
  const said: Said[] = [];
  for (const words of verbsFor(one.id)) said.push(await call(plugin.cli, one.place, words, { under }));
  return said;
}

/** Listed, gone on with, given up. */
async function tryThree(one: Victim): Promise<readonly [Said, Said, Said]> {
  const status = await call(plugin.cli, one.place, ["status"]);
  const resume = await call(plugin.cli, one.place, ["resume", "--run", one.id]);
  return [status, resume, await call(plugin.cli, one.place, ["abandon", "--run", one.id])];
}

function expectAnswers(all: readonly Said[], what: string): void {
  for (const [at, said] of all.entries()) {
    const asked = `${what}, call ${at}: ${said.stdout.slice(0, 300)}${said.stderr.slice(0, 300)}`;
    expect([0, 3, 4], asked).toContain(said.code);
    expect(typeof said.json, asked).toBe("object");
    expect(said.ms, asked).toBeLessThan(2000);
    expect(said.stdout, asked).not.toMatch(/root:x:0/);
  }
}

/** The run as `status` lists it; undefined: it is not there. */
function listed(said: Said, id: string) {
  return said.told.runs?.find((run) => run.id === id);
}

async function inPairs<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all([worker(), worker()]);
}

describe("the ledger itself", () => {
  /** These say nothing else than before. */
  const harmless = new Set(["a byte order mark before it", "CRLF line ends"]);

  test.each(Object.keys(shapes))(
    "log.jsonl as %s: listed with its reason, never written over, and abandoned",
    async (name) => {
      const one = victim();
      const log = join(one.run, "log.jsonl");
      (shapes[name] as (path: string) => void)(log);
      const before = picture(one.run).filter((line) => line.startsWith("log.jsonl"));
      const all = await tryAll(one);
      expectAnswers(all, name);
      const [status, next, submit, resume, , abandon] = all as [Said, Said, Said, Said, Said, Said];
      expect(status.code).toBe(0);
      expect(abandon).toMatchObject({ code: 0, told: { abandoned: true } });
      expect(existsSync(join(one.place.atlas, ".finished", one.id))).toBe(true);
      if (harmless.has(name)) {
        expect(listed(status, one.id)).toMatchObject({ resumable: true });
        expect([next.code, resume.code]).toEqual([0, 0]);
        return;
      }
      expect(listed(status, one.id)).toMatchObject({ resumable: false, why: expect.stringMatching(/^unreadable: /) });
      for (const said of [next, submit, resume]) {
        expect(said.code).toBe(3);
        expect(said.told.refused?.code).toMatch(/^ledger\./);
      }
      expect(picture(one.run).filter((line) => line.startsWith("log.jsonl"))).toEqual(before);
      const after = await call(plugin.cli, one.place, ["status"]);
      expect(after.told).toMatchObject({ runs: [], finished: 1 });
    },
  );

  test.each<[string, (log: string) => void, RegExp]>([
    ["changed in one byte", (log) => rewrite(log, (text) => text.replace("born", "bore")), /ledger\.chain_broken/],
    [
      "without its first line",
      (log) => rewrite(log, (text) => text.split("\n\n").slice(1).join("\n\n")),
      /chain_broken/,
    ],
    [
      "without its last line",
      (log) => rewrite(log, (text) => text.split("\n\n").slice(0, -1).join("\n\n")),
      /tail_lost/,
    ],
    ["put back to an older copy", (log) => rewrite(log, (text) => text.split("\n\n")[0] ?? ""), /ledger\.tail_lost/],
  ])("%s is rot: said where, nothing repaired", async (_name, spoil, code) => {
    const one = victim();
    const log = join(one.run, "log.jsonl");
    spoil(log);
    // A fold goes on from the snapshot as long as its line stands; rot before it is doctor's to find.
    if (code.source.includes("chain_broken")) rmSync(join(one.run, "snapshot.json"));
    const before = readFileSync(log);
    const all = await tryAll(one);
    expectAnswers(all, _name);
    expect(listed(all[0]!, one.id)?.why).toMatch(code);
    expect(all[3]!.told.refused?.code).toMatch(code);
    expect(all[3]!.told.refused?.fix).toMatch(/^atlas (fork --run \S+ --at \d+|doctor)/);
    expect(all[5]!.code).toBe(0);
    expect(readFileSync(log)).toEqual(before);
  });

  function rewrite(path: string, change: (text: string) => string): void {
    writeFileSync(path, change(readFileSync(path, "utf8")));
  }

  test("a torn last line is skipped, and the run goes on", async () => {
    const one = victim();
    appendFileSync(join(one.run, "log.jsonl"), '\n{"v":1,"seq":99,"prev":"');
    const said = await call(plugin.cli, one.place, ["resume", "--run", one.id]);
    expect(said).toMatchObject({ code: 0, told: { next: { do: "dispatch" } } });
  });

  const birth: readonly LineSpec[] = [{ events: [bornEvent("change")] }];
  test.each<[string, readonly LineSpec[], number]>([
    ["an event of a newer release", [...birth, { events: [{ type: "braided" }] }], 3],
    ["a kind of a newer release", [{ events: [bornEvent("braid")] }], 3],
    ["a claim of a newer version", [...birth, { events: [{ ...claimedEvent(goneOwner()), version: 9 }] }], 3],
    ["a newer form of line", [...birth, { v: 2, events: [{ type: "stage" }] }], 3],
  ])("%s: ledger.newer, listed as such, never as damaged", async (_name, specs, exit) => {
    const place = makePlace();
    const { log } = writeOwnRun(place.atlas);
    writeFileSync(log, sealedLog(RUN, specs));
    const before = readFileSync(log);
    const all = await tryAll({ place, id: RUN, run: join(place.atlas, RUN) });
    expectAnswers(all, _name);
    expect(listed(all[0]!, RUN)?.why).toMatch(/^newer: .*newer atlas|^newer: .*not known/);
    for (const at of [1, 2, 3, 4])
      expect(all[at]).toMatchObject({ code: exit, told: { refused: { code: "ledger.newer" } } });
    expect(readFileSync(log)).toEqual(before);
  });

  test.each<[string, readonly LineSpec[]]>([
    ["an owner that is prose", [...birth, { events: [{ ...claimedEvent(goneOwner()), owner: "x" }] }]],
    ["an owner that is null", [...birth, { events: [{ ...claimedEvent(goneOwner()), owner: null }] }]],
    ["a pid that is a path", [...birth, { events: [claimedEvent({ ...goneOwner(), pid: "../../etc" as never })] }]],
    ["an epoch that is prose", [...birth, { events: [{ ...claimedEvent(goneOwner()), epoch: "1" }] }]],
    ["a birth of numbers", [{ events: [{ type: "born", kind: "change", root: 7, digest: 7, commonDir: 7 }] }]],
    ["an opening of nothing", [...birth, { events: [{ type: "opened" }] }]],
    ["an opening of numbers", [...birth, { events: [{ type: "opened", packet: 7, missing: 7, assumed: 7 }] }]],
    ["a lease of nothing", [...birth, { events: [{ type: "gas-granted", amount: 9 }, { type: "leased" }] }]],
    ["a tree that is a path", [...birth, { events: [{ type: "tree-wanted", name: "../../x", from: null }] }]],
    [
      "a packet that is a path",
      [...birth, { events: [{ type: "opened", packet: "../../../x", missing: [], assumed: [] }] }],
    ],
  ])("a sealed line with %s: an answer, and no other run is hidden by it", async (_name, specs) => {
    const one = victim();
    const { log } = writeOwnRun(one.place.atlas, { id: "20250101t000000z-abcdef" });
    writeFileSync(log, sealedLog("20250101t000000z-abcdef", specs));
    const status = await call(plugin.cli, one.place, ["status"]);
    expectAnswers([status], _name);
    expect(status.told.runs?.map((run) => run.id)).toEqual([one.id, "20250101t000000z-abcdef"]);
    expectAnswers(await tryAll({ ...one, id: "20250101t000000z-abcdef" }), _name);
  });
});

describe("what lies beside the ledger", () => {
  test.each(["snapshot.json", "state.json", "intent.txt"])(
    "%s of any shape: the ledger is what counts",
    async (file) => {
      await inPairs(Object.keys(shapes), async (name) => {
        const one = victim();
        (shapes[name] as (path: string) => void)(join(one.run, file));
        const odd = picture(one.run).filter((line) => line.startsWith(file))[0] ?? "";
        const status = await call(plugin.cli, one.place, ["status"]);
        const resume = await call(plugin.cli, one.place, ["resume", "--run", one.id]);
        expectAnswers([status, resume], `${file} as ${name}`);
        expect(listed(status, one.id), name).toMatchObject({ resumable: true });
        expect(resume, name).toMatchObject({ code: 0, told: { next: { do: "dispatch" } } });
        // A link, a FIFO or a folder is somebody's doing and stays; a view that is a file is ours to write anew.
        const isFile = !/ special$| -> |\/$/.test(odd);
        if (!isFile) expect(picture(one.run), name).toContain(odd);
      });
    },
    60_000,
  );

  test("the packet's artifact of any other bytes: refused by name, never used, and abandoned", async () => {
    await inPairs(Object.keys(shapes), async (name) => {
      const one = victim();
      const artifact = readdirSync(join(one.run, "artifacts")).find((entry) => entry.startsWith("packet"))!;
      rmSync(join(one.run, "packets"), { recursive: true });
      (shapes[name] as (path: string) => void)(join(one.run, "artifacts", artifact));
      const same = name === "CRLF line ends" && !readFileSync(join(one.run, "artifacts", artifact)).includes("\r");
      const all = await tryThree(one);
      expectAnswers(all, name);
      const [status, resume, abandon] = all;
      expect(listed(status, one.id), name).toMatchObject({ resumable: true });
      if (!same) expect(resume, name).toMatchObject({ code: 4, told: { error: { code: "artifact.changed" } } });
      expect(abandon.code, name).toBe(0);
    });
  }, 60_000);

  test("an agent's result of any shape: taken, refused by its slot's door, or waited for; never hung on", async () => {
    await inPairs(Object.keys(shapes), async (name) => {
      const one = victim();
      const result = join(one.run, "results", "scout.1.1.out");
      writeFileSync(result, "{}");
      (shapes[name] as (path: string) => void)(result);
      const before = picture(one.run).filter((line) => line.includes("scout.1.1.out"));
      const submit = await call(plugin.cli, one.place, ["submit", "--run", one.id, "--slot", "scout"]);
      const resume = await call(plugin.cli, one.place, ["resume", "--run", one.id]);
      expectAnswers([submit, resume], name);
      expect([2, 3], name).toContain(submit.code === 0 ? 3 : submit.code);
      expect(
        picture(one.run).filter((line) => line.includes("scout.1.1.out")),
        name,
      ).toEqual(before);
    });
  }, 60_000);

  test("what hooks saw, of any shape: it says nothing", async () => {
    await inPairs(Object.keys(shapes), async (name) => {
      const one = victim();
      const seen = join(one.run, "observed.jsonl");
      writeFileSync(seen, '{"v":1,"type":"typed","nonce":"x","choice":7}\n');
      (shapes[name] as (path: string) => void)(seen);
      const before = picture(one.run).filter((line) => line.startsWith("observed.jsonl"));
      expectAnswers(await tryAll(one), name);
      expect(
        picture(one.run).filter((line) => line.startsWith("observed.jsonl")),
        name,
      ).toEqual(before);
    });
  }, 60_000);

  test.each(["artifacts", "results", "packets", "worktree", "git"])(
    "%s that is no folder: unreadable, and nothing is written through it",
    async (name) => {
      const target = join(makePlace().folder, "home");
      const makes: readonly (readonly [string, (path: string) => void])[] = [
        ["link", (path) => symlinkSync(target, path)],
        ["FIFO", (path) => execFileSync("mkfifo", [path])],
        ["file", (path) => writeFileSync(path, "mine")],
      ];
      for (const [what, make] of makes) {
        const one = victim();
        rmSync(join(one.run, name), { recursive: true, force: true });
        make(join(one.run, name));
        const before = picture(one.run);
        const all = await tryThree(one);
        expectAnswers(all, what);
        const [status, resume, abandon] = all;
        expect(listed(status, one.id)?.why, what).toMatch(/^unreadable: ledger\.(linked|bad_folder)/);
        expect(resume, what).toMatchObject({ code: 3 });
        expect(abandon.code, what).toBe(0);
        expect(picture(one.run), what).toEqual(before);
        expect(readdirSync(target), what).toEqual([]);
      }
    },
    60_000,
  );
});

describe(".atlas itself", () => {
  test.each<[string, (atlas: string, other: string) => void]>([
    ["a link", (atlas, other) => symlinkSync(other, atlas)],
    ["a link to itself", (atlas) => symlinkSync(atlas, atlas)],
    ["a FIFO", (atlas) => execFileSync("mkfifo", [atlas])],
    ["a file", (atlas) => writeFileSync(atlas, "mine")],
  ])("%s: not read, said so, and no run is opened through it", async (_name, make) => {
    const place = makePlace();
    const other = join(place.folder, "other");
    cpSync(join(model.path, ".atlas"), other, { recursive: true });
    make(place.atlas, other);
    writeFileSync(join(place.project, "p.json"), JSON.stringify(request));
    const before = picture(place.folder).filter((line) => !line.startsWith("home"));
    const status = await call(plugin.cli, place, ["status"]);
    const resume = await call(plugin.cli, place, ["resume"]);
    const start = await call(plugin.cli, place, ["start", "change", "--packet", "p.json"]);
    expectAnswers([status, resume, start], _name);
    expect(status.told).toMatchObject({ runs: [], places: [{ root: place.project, trusted: false }] });
    expect(resume.told).toMatchObject({ run: null, not_read: [{ root: place.project }] });
    expect(start).toMatchObject({ code: 4, told: { error: { code: "disk.not_a_folder" } } });
    expect(picture(place.folder).filter((line) => !line.startsWith("home"))).toEqual(before);
  });

  test.each<[string, (marks: string) => void]>([
    ["a link", (marks) => symlinkSync("/etc", marks)],
    ["a FIFO", (marks) => execFileSync("mkfifo", [marks])],
    ["a file", (marks) => writeFileSync(marks, "mine")],
  ])("its markers as %s hide no run", async (_name, make) => {
    const one = victim();
    rmSync(join(one.place.atlas, ".finished"), { recursive: true, force: true });
    make(join(one.place.atlas, ".finished"));
    const status = await call(plugin.cli, one.place, ["status"]);
    expectAnswers([status, await call(plugin.cli, one.place, ["resume"])], _name);
    expect(listed(status, one.id)).toMatchObject({ resumable: true });
  });

  test("a run's folder that is a link is listed and not followed; one that is a file is none", async () => {
    const one = victim();
    renameSync(one.run, join(one.place.folder, "elsewhere"));
    symlinkSync(join(one.place.folder, "elsewhere"), one.run);
    writeFileSync(join(one.place.atlas, "20250101t000000z-aaaaaa"), "");
    execFileSync("mkfifo", [join(one.place.atlas, "20250101t000000z-bbbbbb")]);
    const before = picture(join(one.place.folder, "elsewhere"));
    const all = await tryAll(one);
    expectAnswers(all, "a linked run");
    expect(all[0]?.told.runs).toMatchObject([{ id: one.id, why: expect.stringMatching(/ledger\.linked/) }]);
    expect(all[3]).toMatchObject({ code: 3, told: { refused: { code: "ledger.linked" } } });
    expect(all[5]).toMatchObject({ code: 0 });
    expect(picture(join(one.place.folder, "elsewhere"))).toEqual(before);
  });

  test("tracked by git: listed as untrusted, resumed only with --trust, never written", async () => {
    const one = victim();
    gitIn(one.place.project, "init", "-q", ".");
    gitIn(one.place.project, "add", "-f", ".atlas");
    gitIn(one.place.project, "commit", "-qm", "a ledger came along");
    const before = picture(one.run);
    const all = await tryAll(one);
    expectAnswers(all, "tracked");
    expect(listed(all[0]!, one.id)).toMatchObject({ resumable: false, why: "untrusted.tracked" });
    for (const at of [1, 2, 3, 4])
      expect(all[at]).toMatchObject({ code: 3, told: { refused: { code: "run.untrusted" } } });
    expect(all[3]?.told.refused?.fix).toContain("--trust");
    expect(all[5]).toMatchObject({ code: 0, told: { how: "marked" } });
    expect(picture(one.run)).toEqual(before);
  });
});

describe("as a user who may not read it", () => {
  const under = asUnprivileged();

  test.each<[string, (one: Victim) => string]>([
    [".atlas", ({ place }) => place.atlas],
    ["the run's folder", ({ run }) => run],
    ["log.jsonl", ({ run }) => join(run, "log.jsonl")],
  ])("%s: named, never taken for empty", async (name, pathOf) => {
    const one = victim();
    giveAway(one.place);
    chmodSync(pathOf(one), 0o000);
    const size = statSync(pathOf(one)).size;
    const all = await tryAll(one, under);
    expectAnswers(all, name);
    const [status, , , resume, any] = all as [Said, Said, Said, Said, Said];
    if (name === ".atlas") {
      expect(status.told).toMatchObject({ runs: [], places: [{ trusted: false, why: "unreadable" }] });
      expect(any.told).toMatchObject({ run: null, not_read: [{ why: "unreadable" }] });
    } else {
      expect(listed(status, one.id)).toMatchObject({ resumable: false, why: expect.stringMatching(/^unreadable: /) });
      expect(resume.told.refused?.code).toMatch(/^ledger\./);
      expect(all[5]).toMatchObject({ code: 0, told: { abandoned: true } });
    }
    expect(statSync(pathOf(one)).size).toBe(size);
  });

  test.each(["snapshot.json", "state.json", "intent.txt"])("%s: the ledger is what counts", async (name) => {
    const one = victim();
    giveAway(one.place);
    chmodSync(join(one.run, name), 0o000);
    const status = await call(plugin.cli, one.place, ["status"], { under });
    expectAnswers([status], name);
    expect(listed(status, one.id)?.why).not.toMatch(/^unreadable/);
  });
});
