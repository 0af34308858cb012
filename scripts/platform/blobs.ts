import { gitFailure } from "./git.ts";
import type { Snapshots } from "./snapshot.ts";

/** Contents of blobs by id, with one call of git. What this repository cannot see is not in the answer. */
export function blobsOf(snapshots: Snapshots, blobs: readonly string[]): ReadonlyMap<string, Buffer> {
  const contents = new Map<string, Buffer>();
  if (blobs.length === 0) return contents;
  const args = ["cat-file", "--batch"];
  const done = snapshots.run(args, { input: blobs.map((blob) => `${blob}\n`).join("") });
  if (done.code !== 0) throw gitFailure(args, done);
  const output = done.stdout;
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0x0a, at);
    if (end < 0) break;
    const match = /^([0-9a-f]+) blob (\d+)$/.exec(output.subarray(at, end).toString("latin1"));
    at = end + 1;
    if (match === null) continue;
    const size = Number(match[2]);
    contents.set(match[1] as string, output.subarray(at, at + size));
    at += size + 1;
  }
  return contents;
}
