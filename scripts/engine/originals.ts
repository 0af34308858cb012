/**
 * Reading what the original wrote, as bytes and hashes. Foreign files are only ever read, and each once a command: what
 * is told of a run, what is adopted and what is hashed are the same bytes, whoever writes there meanwhile.
 */
import { join } from "node:path";
import type { ForeignFile } from "../kinds/change/events.ts";
import { type OriginalRun, readOriginalRun } from "../kinds/change/original.ts";
import { type OriginalGraph, readOriginalGraph } from "../kinds/weave/original.ts";
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
  /** The hash of a file it was read from, of the very bytes; null for any other name. */
  hashed(name: string): ForeignFile | null;
}

export function readOriginal(fs: FileSystem, folder: string, id: string, freeMb: number): ReadOriginal {
  const files = new Map<string, Uint8Array>();
  const bytes = (name: string, max: number): Uint8Array | null => {
    const read = readBounded(fs, join(folder, name), max);
    if (read.kind !== "file") return null;
    files.set(name, read.bytes);
    return read.bytes;
  };
  const hasDag = entryKind(fs, join(folder, "plan.dag.json")) !== "absent";
  const dagBytes = hasDag ? bytes("plan.dag.json", dagBytesMax) : null;
  const graph = dagBytes === null ? null : readOriginalGraph(dagBytes, freeMb);
  const run = readOriginalRun({
    state: bytes("state.json", stateBytesMax),
    log: bytes("log.jsonl", logBytesMax),
    intent: bytes("intent.txt", stateBytesMax),
    dag: hasDag ? graph : "absent",
    idOfFolder: id,
  });
  const hashes = new Map<string, ForeignFile>();
  return {
    run,
    graph: graph?.ok ? graph.value : null,
    hashed(name) {
      const file = files.get(name);
      if (file === undefined) return null;
      const hash = hashes.get(name) ?? foreignFile(name, file);
      hashes.set(name, hash);
      return hash;
    },
  };
}

/**
 * sha-256 of every file adoption rests on, sub-runs' too. Its telemetry file grows on every tool call: not hashed.
 * `read`: the run as this command has read it; its files are not read again.
 */
export function hashOriginal(fs: FileSystem, folder: string, read: ReadOriginal | null = null): readonly ForeignFile[] {
  const found: ForeignFile[] = [];
  const look = (path: string): void => {
    const file = readBounded(fs, join(folder, path), dagBytesMax);
    if (file.kind === "file") found.push(foreignFile(path, file.bytes));
  };
  for (const name of hashedNames) {
    const known = read?.hashed(name);
    if (known == null) look(name);
    else found.push(known);
  }
  const tasks = join(folder, "tasks");
  if (entryKind(fs, tasks) === "folder") {
    for (const task of listFolder(fs, tasks).slice(0, subRunsMax)) {
      for (const name of hashedNames) look(`tasks/${task}/${name}`);
    }
  }
  return found;
}

function foreignFile(path: string, bytes: Uint8Array): ForeignFile {
  return { path, sha256: sha256(bytes), bytes: bytes.length };
}

/** One hash over all of them: fits a line whatever the number of sub-runs. */
export function digestOf(files: readonly ForeignFile[]): string {
  return sha256(files.map((file) => `${file.path} ${file.bytes} ${file.sha256}\n`).join(""));
}
