/** Many processes that append to one ledger while another reads it all the time. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventBase } from "../../scripts/core/kind.ts";
import { ORIGIN } from "../../scripts/core/line.ts";
import { loadRun } from "../../scripts/engine/ledger.ts";
import { readLog } from "../../scripts/engine/log.ts";
import { realFileSystem } from "../../scripts/platform/fs.ts";
import { repositoryRoot } from "../support/run-cli.ts";
import { bornRun, smallEngine } from "../support/small-run.ts";
import { keptFolder, tempFolder } from "../support/temp.ts";

const writers = 16;
const appendsEach = 200;

let script: string;
let remove: () => void;
beforeAll(() => {
  const folder = keptFolder();
  remove = folder.remove;
  script = join(folder.path, "appender.cjs");
  buildSync({
    absWorkingDir: repositoryRoot,
    entryPoints: ["test/support/appender-entry.ts"],
    bundle: true,
    platform: "node",
    format: "cjs",
    outfile: script,
  });
});
afterAll(() => remove());

/** Exit code and whatever went wrong. */
function endOf(child: ChildProcess): Promise<string> {
  const errors: Buffer[] = [];
  child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk));
  return new Promise((resolve) =>
    child.on("close", (code) => resolve(`${code}${Buffer.concat(errors).toString().slice(0, 500)}`)),
  );
}

test(`${writers} processes append ${appendsEach} lines each while one reads: no line is lost or doubled, no reading fails`, {
  timeout: 300_000,
}, async () => {
  const place = tempFolder();
  const run = bornRun(smallEngine(realFileSystem), place);
  const names = Array.from({ length: writers }, (_value, at) => `w${at}`);
  const children = names.map((name) => spawn(process.execPath, [script, place, run.id, name, String(appendsEach)]));
  const ended = children.map(endOf);
  await Promise.all(children.map((child) => new Promise((resolve) => child.stdout.once("data", resolve))));
  for (const child of children) child.stdin.write("go\n");
  let over = false;
  const all = Promise.all(ended).finally(() => {
    over = true;
  });
  let readings = 0;
  let before = 1;
  while (!over) {
    // Now and then from the first line: a wrong snapshot must not hide a broken log.
    const read = loadRun(realFileSystem, run, readings % 50 !== 0);
    if (!read.ok) throw new Error(`reading ${readings}: ${read.unreadable.reason}`);
    expect(read.loaded.tip.seq).toBeGreaterThanOrEqual(before);
    before = read.loaded.tip.seq;
    readings += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await all).toEqual(names.map(() => "0"));
  expect(readings).toBeGreaterThan(10);

  const read = readLog<EventBase & { readonly why?: string }>(realFileSystem, run.ledger, ORIGIN);
  if (read === null || "bad" in read) throw new Error("no log");
  const { lines, end } = read.chain;
  expect(end).toEqual({ at: "end" });
  expect(lines.map((line) => line.seq)).toEqual(
    Array.from({ length: 1 + writers * appendsEach }, (_value, at) => at + 1),
  );
  const notes = lines.flatMap((line) => (line.seq === 1 ? [] : line.events.map((event) => event.why ?? "")));
  for (const name of names) {
    const own = notes.filter((text) => text.startsWith(`${name}-`));
    expect(own).toEqual(Array.from({ length: appendsEach }, (_value, at) => `${name}-${at}`));
  }
  expect(notes).toHaveLength(writers * appendsEach);
  expect(loadRun(realFileSystem, run)).toEqual(loadRun(realFileSystem, run, false));
});
