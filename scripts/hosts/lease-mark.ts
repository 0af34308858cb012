/** The files beside a run that name its live leases, as the engine wrote them. What lies there may be anybody's. */
import { join } from "node:path";
import { listFolder, readBounded } from "../platform/files.ts";
import type { FileSystem } from "../platform/fs.ts";

const bytesMax = 4096;

export interface TreeLease {
  readonly role: string;
  /** The own tree that a writing slot was handed out for. */
  readonly tree: string;
}

/** Live leases that write in a tree of the run whose files lie in `home`. */
export function treeLeases(fs: FileSystem, home: string): readonly TreeLease[] {
  const results = join(home, "results");
  const names = listFolder(fs, results).filter((name) => name.endsWith(".lease"));
  return names.flatMap((name) => {
    const read = readBounded(fs, join(results, name), bytesMax);
    try {
      const held = JSON.parse(read.kind === "file" ? read.bytes.toString("utf8") : "null") as Record<string, unknown>;
      const { role, tree } = held;
      return typeof role === "string" && typeof tree === "string" ? [{ role, tree }] : [];
    } catch {
      return [];
    }
  });
}
