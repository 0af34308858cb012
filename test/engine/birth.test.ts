import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EnvironmentFailure } from "../../scripts/core/result.ts";
import { readArtifact, writeArtifact } from "../../scripts/engine/artifacts.ts";
import { bear, makePlace, stillborn } from "../../scripts/engine/birth.ts";
import { loadRun, type RunFolder } from "../../scripts/engine/ledger.ts";
import { readPacket } from "../../scripts/engine/packets.ts";
import { conclude } from "../../scripts/engine/proceed.ts";
import type { ChangeState } from "../../scripts/kinds/change/state.ts";
import { listFolder, replaceFile } from "../../scripts/platform/files.ts";
import { type FileSystem, realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { type Luck, NO_LUCK } from "../support/disk-nodes.ts";
import { type Call, dyingIn, faultyFileSystem } from "../support/faulty-fs.ts";
import { RUN } from "../support/ledger.ts";
import { type MemoryDisk, memoryDisk } from "../support/memory-disk.ts";
import { bornRun, newRun, smallEngine } from "../support/small-run.ts";
import { tempFolder } from "../support/temp.ts";

const root = "/project";
const atlas = `${root}/.atlas`;

function project(): MemoryDisk {
  const disk = memoryDisk();
  disk.fs.mkdirSync(root);
  const fd = disk.fs.openSync("/", 0);
  disk.fs.fsyncSync(fd);
  disk.fs.closeSync(fd);
  return disk;
}

function birth(fs: FileSystem) {
  const engine = smallEngine(fs);
  return bear(engine, newRun(engine, root, makePlace(fs, root)));
}

const folder: RunFolder = newRun(smallEngine(memoryDisk().fs), root, atlas).folder;

/** Runs that a reader of this disk would see. */
const runsOn = (fs: FileSystem): readonly string[] => listFolder(fs, atlas).filter((name) => !name.startsWith("."));

/** Everything a birth promises, read back. */
function expectWhole(fs: FileSystem, what?: string): void {
  const read = loadRun(fs, folder);
  if (!read.ok) throw new Error(`${what}: ${read.unreadable.reason}`);
  const loaded = read.loaded as typeof read.loaded & { readonly state: ChangeState };
  expect(loaded.tip.seq, what).toBe(1);
  expect(readPacket({ fs }, loaded)?.intent, what).toBe("mend the sum");
  const intent = fs.openSync(`${folder.ledger}/intent.txt`, 0);
  expect(fs.fstatSync(intent).size, what).toBe("mend the sum".length);
}

const callsOfABirth = (() => {
  const fs = faultyFileSystem(project().fs, () => null);
  birth(fs);
  return fs.calls.length;
})();

describe("a run is born whole or not at all", () => {
  test("killed before or after any call: no run, or the whole one; and it can be born again", () => {
    for (let nth = 0; nth < callsOfABirth; nth += 1) {
      for (const killed of ["before", "after"] as const) {
        const disk = project();
        const fs = faultyFileSystem(disk.fs, (call) => (call.nth === nth ? { killed } : null));
        dyingIn(fs, () => birth(fs));
        const what = `killed ${killed} call ${nth}, ${fs.calls.at(-1)?.name}`;
        if (runsOn(disk.fs).length > 0) expectWhole(disk.fs, what);
        else {
          expect(birth(disk.fs).ok, what).toBe(true);
          expectWhole(disk.fs, what);
        }
      }
    }
  });

  test("told is durable also after one that was killed anywhere before it", () => {
    for (let nth = 0; nth < callsOfABirth; nth += 1) {
      const disk = project();
      const fs = faultyFileSystem(disk.fs, (call) => (call.nth === nth ? { killed: "after" } : null));
      dyingIn(fs, () => birth(fs));
      if (runsOn(disk.fs).length === 0) expect(birth(disk.fs).ok).toBe(true);
      else {
        // It is there: the next start is its resume, and tells of it.
        const read = loadRun(disk.fs, folder);
        expect(read.ok && conclude(smallEngine(disk.fs), read.loaded, []).ok).toBe(true);
      }
      expectWhole(disk.afterPowerLoss().fs, `killed after call ${nth}, ${fs.calls.at(-1)?.name}`);
    }
  });

  test("told is durable: after a power loss the whole run is there", () => {
    const disk = project();
    expect(birth(disk.fs).ok).toBe(true);
    const after = disk.afterPowerLoss();
    expectWhole(after.fs);
    expect(after.text(`${atlas}/.gitignore`)).toBe("*\n");
  });

  test("the power away at any call, with any luck: no run, or the whole one", () => {
    fc.assert(
      fc.property(fc.nat(callsOfABirth - 1), fc.infiniteStream(fc.nat(5000)), (nth, numbers) => {
        const disk = project();
        const fs = faultyFileSystem(disk.fs, (call) => (call.nth === nth ? { killed: "after" } : null));
        dyingIn(fs, () => birth(fs));
        const luck: Luck = {
          entry: () => (numbers.next().value as number) % 2 === 0,
          bytes: (_path, young) => (numbers.next().value as number) % (young + 1),
        };
        const after = disk.afterPowerLoss(luck);
        if (runsOn(after.fs).length > 0) expectWhole(after.fs);
        else expect(birth(after.fs).ok).toBe(true);
      }),
      { numRuns: 400 },
    );
  });

  test("whatever call fails: named by its path, and nothing but a folder nobody reads is left", () => {
    for (let nth = 0; nth < callsOfABirth; nth += 1) {
      for (const errno of ["ENOSPC", "EIO", "EMFILE", "EROFS", "EACCES", "EDQUOT"]) {
        for (const lasting of [false, true]) {
          const disk = project();
          const isMeant = (call: Call) => (lasting ? call.nth >= nth : call.nth === nth);
          const fs = faultyFileSystem(disk.fs, (call) => (isMeant(call) ? { errno } : null));
          const what = `${errno} at call ${nth}, ${lasting ? "for ever" : "once"}`;
          let told = false;
          try {
            told = birth(fs).ok;
          } catch (error) {
            expect(error, what).toBeInstanceOf(EnvironmentFailure);
            expect((error as Error).message, what).toMatch(/\(\/.*\)$/);
          }
          if (told) expectWhole(disk.afterPowerLoss().fs, what);
          if (runsOn(disk.fs).length > 0) expectWhole(disk.fs, what);
          else expect(birth(disk.fs).ok, what).toBe(true);
          if (!lasting) expect(stillborn(disk.fs, atlas), what).toEqual([]);
        }
      }
    }
  });
});

describe("an id that is taken", () => {
  test("is refused, and the run that has it keeps its bytes", () => {
    const disk = project();
    birth(disk.fs);
    const before = disk.text(`${folder.ledger}/log.jsonl`);
    expect(birth(disk.fs)).toMatchObject({ ok: false, error: { code: "run.exists" } });
    expect(disk.text(`${folder.ledger}/log.jsonl`)).toBe(before);
    expect(stillborn(disk.fs, atlas)).toEqual([]);
  });

  test.each([
    ["a file", (path: string) => writeFileSync(path, "mine")],
    ["a link", (path: string) => symlinkSync("/etc", path)],
    [
      "a folder with something in it",
      (path: string) => {
        mkdirSync(path);
        writeFileSync(join(path, "x"), "mine");
      },
    ],
  ])("by %s is refused too", (_name, make) => {
    const place = tempFolder();
    const engine = smallEngine(realFileSystem);
    const home = makePlace(realFileSystem, place);
    make(join(home, RUN));
    expect(bear(engine, newRun(engine, place, home))).toMatchObject({ ok: false, error: { code: "run.exists" } });
    expect(readdirSync(home).filter((name) => name.startsWith(".new-"))).toEqual([]);
  });
});

test("a history that could not be folded again is never born", () => {
  const disk = project();
  const engine = smallEngine(disk.fs);
  const run = newRun(engine, root, makePlace(disk.fs, root));
  const [born, claimed, ...rest] = run.events;
  expect(() => bear(engine, { ...run, events: [born, ...rest, claimed!, claimed!] })).toThrow(/not legal/);
  const long = { type: "gas-granted", amount: 1, why: "x".repeat(66_000) };
  expect(bear(engine, { ...run, events: [...run.events, long] as typeof run.events })).toMatchObject({
    ok: false,
    error: { code: "ledger.line_too_long" },
  });
  expect(runsOn(disk.fs)).toEqual([]);
});

test.each([
  ["a link", (path: string, other: string) => symlinkSync(other, path)],
  ["a file", (path: string) => writeFileSync(path, "mine")],
])("a place that is %s is not written through or over", (_name, make) => {
  const [place, other] = [tempFolder(), tempFolder()];
  make(join(place, ".atlas"), other);
  expect(() => makePlace(realFileSystem, place)).toThrow(EnvironmentFailure);
  expect(readdirSync(other)).toEqual([]);
  expect(readdirSync(place)).toEqual([".atlas"]);
});

describe("an artifact", () => {
  const name = { slot: "plan", pass: 0, extension: "md" };

  test("told is durable, its folder too, even where the folder was lost", () => {
    const disk = project();
    birth(disk.fs);
    disk.fs.unlinkSync(`${folder.ledger}/artifacts/${listFolder(disk.fs, `${folder.ledger}/artifacts`)[0]}`);
    disk.fs.rmdirSync(`${folder.ledger}/artifacts`);
    const hash = writeArtifact(disk.fs, folder, name, Buffer.from("# plan"));
    const after = disk.afterPowerLoss(NO_LUCK);
    expect(readArtifact(after.fs, folder, name, hash).toString()).toBe("# plan");
  });

  test("of the same bytes is not written again, of other bytes stands beside it", () => {
    const disk = project();
    const run = bornRun(smallEngine(disk.fs), root);
    const first = writeArtifact(disk.fs, run, name, Buffer.from("one"));
    const fs = faultyFileSystem(disk.fs, () => null);
    expect(writeArtifact(fs, run, name, Buffer.from("one"))).toBe(first);
    expect(fs.calls.some((call) => call.name === "writeSync")).toBe(false);
    const second = writeArtifact(disk.fs, run, name, Buffer.from("two"));
    expect(readArtifact(disk.fs, run, name, first).toString()).toBe("one");
    expect(readArtifact(disk.fs, run, name, second).toString()).toBe("two");
  });

  test("that changed on disk is named, never used; handing it in again mends it", () => {
    const disk = project();
    const run = bornRun(smallEngine(disk.fs), root);
    const hash = writeArtifact(disk.fs, run, name, Buffer.from("one"));
    const path = `${run.ledger}/artifacts/plan.0.${hash.slice(0, 12)}.md`;
    replaceFile(disk.fs, path, "forged", false);
    expect(() => readArtifact(disk.fs, run, name, hash)).toThrow(/other bytes than the ledger names/);
    expect(writeArtifact(disk.fs, run, name, Buffer.from("one"))).toBe(hash);
    expect(readArtifact(disk.fs, run, name, hash).toString()).toBe("one");
    disk.fs.unlinkSync(path);
    expect(() => readArtifact(disk.fs, run, name, hash)).toThrow(/is missing/);
  });

  test("told is durable also after a writer of the same bytes was killed anywhere", () => {
    const count = (() => {
      const disk = project();
      const fs = faultyFileSystem(disk.fs, () => null);
      writeArtifact(fs, bornRun(smallEngine(disk.fs), root), name, Buffer.from("# plan"));
      return fs.calls.length;
    })();
    for (let nth = 0; nth < count; nth += 1) {
      const disk = project();
      const run = bornRun(smallEngine(disk.fs), root);
      const fs = faultyFileSystem(disk.fs, (call) => (call.nth === nth ? { killed: "after" } : null));
      dyingIn(fs, () => writeArtifact(fs, run, name, Buffer.from("# plan")));
      const hash = writeArtifact(disk.fs, run, name, Buffer.from("# plan"));
      expect(readArtifact(disk.afterPowerLoss().fs, run, name, hash).toString()).toBe("# plan");
    }
  });

  test("killed while it is written: the old bytes, none, or the whole new ones", () => {
    const count = (() => {
      const disk = project();
      const run = bornRun(smallEngine(disk.fs), root);
      const fs = faultyFileSystem(disk.fs, () => null);
      writeArtifact(fs, run, name, Buffer.from("# plan"));
      return fs.calls.length;
    })();
    for (let nth = 0; nth < count; nth += 1) {
      const disk = project();
      const run = bornRun(smallEngine(disk.fs), root);
      const fs = faultyFileSystem(disk.fs, (call) => (call.nth === nth ? { killed: "after" } : null));
      dyingIn(fs, () => writeArtifact(fs, run, name, Buffer.from("# plan")));
      const path = `${run.ledger}/artifacts/plan.0.${sha256("# plan").slice(0, 12)}.md`;
      for (const found of [disk.text(path), disk.afterPowerLoss().text(path)])
        expect([null, "# plan"]).toContain(found);
    }
  });
});
