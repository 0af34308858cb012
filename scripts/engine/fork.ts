/**
 * A fork: a new run whose first lines are the parent's, byte for byte, and whose next line says where it left. The
 * way out of a ledger that broke, too: its good prefix goes on under a new id. The parent is only read.
 *
 * What a failure leaves behind: a `.new-…` folder that `clean` removes, or the whole fork.
 */
import { join } from "node:path";
import type { HeadEvent } from "../core/head.ts";
import { ownRunId } from "../core/ids.ts";
import { LINE_VERSION, LOG_BYTES_MAX, readChain, sealLine } from "../core/line.ts";
import { ok, type Refusal, type Result, refuse } from "../core/result.ts";
import { copyFolder } from "../platform/copy-folder.ts";
import { entryKind, failure, makeFolder, readBounded, removeFolder, syncFolder, writeNew } from "../platform/files.ts";
import { sha256 } from "../platform/hash.ts";
import { patiently } from "../platform/patience.ts";
import type { Engine } from "./context.ts";
import type { RunFolder } from "./ledger.ts";
import { LOG_NAME } from "./log.ts";

/** What the lines name and the run goes on from. Trees are not copied: a fork makes its own. */
const carriedFolders = ["artifacts", "git"] as const;

/** Refuses `fork.no_line`, `ledger.absent`, `run.exists`. */
export function fork(engine: Engine, parent: RunFolder, at: number): Result<RunFolder, Refusal> {
  const { fs } = engine;
  const read = readBounded(fs, join(parent.ledger, LOG_NAME), LOG_BYTES_MAX);
  if (read.kind !== "file") return refuse("ledger.absent", `run ${parent.id} has no readable log`, "atlas doctor");
  const { lines } = readChain<{ readonly type: string }>(read.bytes, sha256);
  const kept = lines.filter((line) => line.seq <= at);
  const last = kept.at(-1);
  if (last === undefined || last.seq !== at) {
    const good = lines.at(-1)?.seq ?? 0;
    return refuse(
      "fork.no_line",
      `run ${parent.id} has no good line ${at}; its last is ${good}`,
      `atlas fork --run ${parent.id} --at ${good}`,
    );
  }
  const id = ownRunId(engine.moment.now, engine.moment.fresh("fork").slice(0, 6));
  const forked: HeadEvent = { type: "forked", from: parent.id, at, id };
  const sealed = sealLine(
    {
      v: LINE_VERSION,
      seq: at + 1,
      prev: last.sum,
      ts: new Date(engine.moment.now).toISOString(),
      run_id: id,
      by: { verb: engine.verb, pid: process.pid, session: engine.self.session, epoch: last.by.epoch },
      events: [forked],
    },
    sha256,
  );
  const folder: RunFolder = {
    id,
    root: parent.root,
    atlas: parent.atlas,
    ledger: join(parent.atlas, id),
    adopted: false,
  };
  const building = join(parent.atlas, `.new-${engine.moment.fresh("birth")}${engine.moment.fresh("birth")}`);
  try {
    makeFolder(fs, building);
    for (const name of carriedFolders) {
      const from = join(parent.ledger, name);
      if (entryKind(fs, from) !== "folder") continue;
      copyFolder(fs, from, join(building, name));
    }
    const intent = readBounded(fs, join(parent.ledger, "intent.txt"), 64 * 1024);
    if (intent.kind === "file") writeNew(fs, join(building, "intent.txt"), intent.bytes, true);
    const bytes = Buffer.concat([
      ...kept.map((line) => rawLine(read.bytes, line.sum)),
      Buffer.from(`\n${sealed.text}\n`),
    ]);
    writeNew(fs, join(building, LOG_NAME), bytes, true);
    syncFolder(fs, building);
    if (entryKind(fs, folder.ledger) !== "absent")
      return refuse("run.exists", `run ${id} exists already`, "atlas fork");
    patiently(() => fs.renameSync(building, folder.ledger));
  } catch (error) {
    if (entryKind(fs, building) === "folder") removeFolder(fs, building);
    throw failure(error, folder.ledger);
  }
  // Its name is synced with the instruction that tells of it.
  return ok(folder);
}

/** The accepted line's own bytes: a fork's lines are the parent's, not a rewriting of them. */
function rawLine(log: Buffer, sum: string): Buffer {
  const end = log.indexOf(`,"sum":"${sum}"}`);
  const start = log.lastIndexOf(0x0a, end) + 1;
  const stop = log.indexOf(0x0a, end);
  return Buffer.concat([Buffer.from("\n"), log.subarray(start, stop < 0 ? log.length : stop), Buffer.from("\n")]);
}
