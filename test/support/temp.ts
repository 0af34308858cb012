/** Temporary folders that are gone after the test, read-only leftovers included. */
import { chmodSync, lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new empty folder (its real path). `name` becomes its last segment's beginning, so it may hold spaces or `$`. */
export function tempFolder(name = "atlas-test-"): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), name)));
  onTestFinished(() => removeFolder(folder));
  return folder;
}

/** As `tempFolder`, for `beforeAll` and benchmarks: the caller removes it. */
export function keptFolder(name = "atlas-test-"): { readonly path: string; readonly remove: () => void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), name)));
  return { path, remove: () => removeFolder(path) };
}

export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // A test may have taken the write permission away.
    openUp(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function openUp(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) openUp(join(path, name));
}
