/** Reading what the original wrote, as bytes and hashes. Foreign files are only ever read. */
import { join } from "node:path";
import type { ForeignFile } from "../kinds/change/events.ts";
import { type OriginalRun, readOriginalRun } from "../kinds/change/original.ts";
import { graphAfterReset, type OriginalGraph } from "../kinds/weave/original.ts";
import { parseDag } from "../kinds/weave/plan-dag.ts";
import { entryKind, listFolder, readBounded } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { sha256 } from "../platform/hash.ts";

/** A foreign DAG; the rest is small. */
const dagBytesMax = 96 * 1024 * 1024;
const logBytesMax = 64 * 1024 * 1024;
const stateBytesMax = 1024 * 1024;
const subRunsMax = 100_000;

const hashedNames = ["state.json", "log.jsonl", "plan.dag.json", "intent.txt"] as const;

export interface ReadOriginal {
  readonly run: OriginalRun;
  readonly graph: OriginalGraph | null;
}

export function readOriginal(fs: FileSystem, folder: string, id: string, freeMb: number): ReadOriginal {
  const bytes = (name: string, max: number): Uint8Array | null => {
    const read = readBounded(fs, join(folder, name), max);
    return read.kind === "file" ? read.bytes : null;
  };
  const hasDag = entryKind(fs, join(folder, "plan.dag.json")) !== "absent";
  const dagBytes = hasDag ? bytes("plan.dag.json", dagBytesMax) : null;
  const dag = dagBytes === null ? null : parseDag(dagBytes);
  const run = readOriginalRun({
    state: bytes("state.json", stateBytesMax),
    log: bytes("log.jsonl", logBytesMax),
    intent: bytes("intent.txt", stateBytesMax),
    dag: hasDag ? dag : "absent",
    idOfFolder: id,
  });
  return { run, graph: dag?.ok ? graphAfterReset(dag.value, freeMb) : null };
}

/** sha-256 of every file adoption rests on, sub-runs' too. Its telemetry file grows on every tool call: not hashed. */
export function hashOriginal(fs: FileSystem, folder: string): readonly ForeignFile[] {
  const found: ForeignFile[] = [];
  const look = (below: string): void => {
    for (const name of hashedNames) {
      const path = below === "" ? name : `${below}/${name}`;
      const read = readBounded(fs, join(folder, path), dagBytesMax);
      if (read.kind === "file") found.push({ path, sha256: sha256(read.bytes), bytes: read.bytes.length });
    }
  };
  look("");
  const tasks = join(folder, "tasks");
  if (entryKind(fs, tasks) === "folder") {
    for (const name of listFolder(fs, tasks).slice(0, subRunsMax)) look(`tasks/${name}`);
  }
  return found;
}

/** One hash over all of them: fits a line whatever the number of sub-runs. */
export function digestOf(files: readonly ForeignFile[]): string {
  return sha256(files.map((file) => `${file.path} ${file.bytes} ${file.sha256}\n`).join(""));
}
