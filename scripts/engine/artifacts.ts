/**
 * Artifacts: what was handed in or captured, named by slot, pass and hash, so that two who hand in different bytes
 * at once cannot overwrite each other. Written durably before the line that names it.
 */
import { join } from "node:path";
import { EnvironmentFailure } from "../core/result.ts";
import { entryKind, makeFolder, readBounded, replaceFile, syncFolder } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";
import { sha256 } from "../platform/hash.ts";
import type { RunFolder } from "./ledger.ts";

/** No slot takes more. */
export const ARTIFACT_BYTES_MAX = 16 * 1024 * 1024;

export interface ArtifactName {
  readonly slot: string;
  readonly pass: number;
  readonly extension: string;
}

export function artifactPath(folder: RunFolder, name: ArtifactName, hash: string): string {
  return join(folder.ledger, "artifacts", `${name.slot}.${name.pass}.${hash.slice(0, 12)}.${name.extension}`);
}

/** Durable before it returns; the same bytes are not written again. */
export function writeArtifact(fs: FileSystem, folder: RunFolder, name: ArtifactName, bytes: Uint8Array): string {
  const hash = sha256(bytes);
  const path = artifactPath(folder, name, hash);
  const kept = join(folder.ledger, "artifacts");
  const before = readBounded(fs, path, ARTIFACT_BYTES_MAX);
  if (before.kind === "file" && sha256(before.bytes) === hash) {
    // Whoever put it there may have been killed before its name was durable.
    syncFolder(fs, kept);
    return hash;
  }
  if (entryKind(fs, kept) !== "folder") {
    makeFolder(fs, kept);
    syncFolder(fs, folder.ledger);
  }
  replaceFile(fs, path, bytes, true);
  return hash;
}

/** The bytes the ledger names. Throws `artifact.changed` when what lies there is something else. */
export function readArtifact(fs: FileSystem, folder: RunFolder, name: ArtifactName, hash: string): Buffer {
  const path = artifactPath(folder, name, hash);
  const read = readBounded(fs, path, ARTIFACT_BYTES_MAX);
  if (read.kind === "file" && sha256(read.bytes) === hash) return read.bytes;
  const what =
    read.kind === "file"
      ? "holds other bytes than the ledger names"
      : read.kind === "bad"
        ? `is ${read.why}`
        : "is missing";
  throw new EnvironmentFailure("artifact.changed", `${path} ${what}`, `atlas doctor --run ${folder.id}`);
}
