/** What one durable append costs in a running process, against the system calls it cannot do without. */
import { closeSync, fsyncSync, openSync, readSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { ORIGIN, readChain, sealLine, type Tip } from "../../scripts/core/line.ts";
import { appendLine } from "../../scripts/engine/log.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { sha256 } from "../../scripts/platform/hash.ts";
import { sealedLog } from "../support/ledger.ts";
import { type Bench, type Measured, median, type Row } from "./measure.ts";

const [shortLog, longLog] = [100, 20_000];
const runId = "20261130t190000z-1a2b3c";
const appends = 61;

export const appendRows: readonly Row[] = [
  {
    what: "one durable append behind 100 lines, against raw write, fsync and read",
    budget: 2,
    measure: (bench) => againstRaw(bench, shortLog),
  },
  {
    what: "one durable append behind 20,000 lines, against raw write, fsync and read",
    budget: 2,
    measure: (bench) => againstRaw(bench, longLog),
  },
  {
    // Flat, but for what the disk itself does.
    what: "one durable append behind 20,000 lines, against behind 100",
    budget: 1.3,
    measure: (bench) => {
      const [long, short] = [openLog(bench, `flat-${longLog}`, longLog), openLog(bench, `flat-${shortLog}`, shortLog)];
      return inTurn(
        () => long.append(),
        () => short.append(),
      );
    },
  },
];

function againstRaw(bench: Bench, lines: number): Measured {
  const log = openLog(bench, `append-${lines}`, lines);
  return inTurn(
    () => log.append(),
    () => log.raw(),
  );
}

function inTurn(ours: () => number, theirs: () => number): Measured {
  const [mine, other]: [number[], number[]] = [[], []];
  for (let round = 0; round < appends; round += 1) {
    other.push(theirs());
    mine.push(ours());
  }
  return { unit: "ms", ours: median(mine), theirs: median(other) };
}

/** A log of so many lines; both ways of appending give their milliseconds. */
function openLog(bench: Bench, name: string, lines: number): { append(): number; raw(): number } {
  const folder = bench.project(name);
  const log = sealedLog(
    runId,
    Array.from({ length: lines }, () => ({ events: [{ type: "noted" }] })),
  );
  writeFileSync(join(folder, "log.jsonl"), log);
  writeFileSync(join(folder, "raw"), log);
  let { tip } = readChain(Buffer.from(log), sha256, ORIGIN);
  const end = Buffer.byteLength(log);
  return {
    append: () => {
      const sealed = sealedNext(tip);
      const begun = performance.now();
      const appended = appendLine(realFileSystem, folder, tip, { ...sealed, last: false });
      const ms = performance.now() - begun;
      if (appended === "lost" || appended.won === null) throw new Error("the append lost to nobody");
      tip = appended.won;
      return ms;
    },
    raw: () => {
      const bytes = Buffer.from(`\n${sealedNext(tip).text}\n`);
      const begun = performance.now();
      const fd = openSync(join(folder, "raw"), "a+");
      writeSync(fd, bytes);
      fsyncSync(fd);
      readSync(fd, Buffer.alloc(bytes.length), 0, bytes.length, end);
      closeSync(fd);
      return performance.now() - begun;
    },
  };
}

function sealedNext(tip: Tip): ReturnType<typeof sealLine> {
  const body = {
    v: 1,
    seq: tip.seq + 1,
    prev: tip.sum,
    ts: "2026-11-30T19:00:00.000Z",
    run_id: runId,
    by: { verb: "x", pid: 1, session: null, epoch: 1 },
    events: [{ type: "noted" }],
  };
  return sealLine(body, sha256);
}
