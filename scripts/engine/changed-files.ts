/** What a change did to each file, read once from the snapshots for every lens. Bounded in files and bytes. */
import type { Packet } from "../kinds/change/door-packet.ts";
import { blobsOf } from "../platform/blobs.ts";
import { type Change, changesBetween, sizesOf } from "../platform/changes.ts";
import type { Snapshots } from "../platform/snapshot.ts";
import { type ChangedFile, changedFileLimits } from "../verify/changed-file.ts";
import { globMatcher } from "./globs.ts";
import { addedLines } from "./readers.ts";

/** Whether a path is a test by the frozen globs, matched against the whole path. */
export function testMatcher(packet: Pick<Packet, "test_glob">): (path: string) => boolean {
  const matchers = packet.test_glob.map(globMatcher);
  return (path) => matchers.some((matches) => matches(path));
}

/** In git's order of paths. */
export function changedFiles(
  snapshots: Snapshots,
  trees: { readonly before: string; readonly coded: string },
  isTest: (path: string) => boolean,
): readonly ChangedFile[] {
  const changes = changesBetween(snapshots, trees.before, trees.coded);
  const wanted = changes.slice(0, changedFileLimits.filesMax).filter(isRegular);
  const blobs = wanted.flatMap(({ oldBlob, newBlob }) => [oldBlob, newBlob]);
  const readable = affordable(blobs, sizesOf(snapshots, blobs));
  const texts = blobsOf(snapshots, [...readable]);
  return changes.map((change) => fileOf(change, readable, texts, isTest));
}

/** A link's target and a gitlink's commit are no text. */
function isRegular({ oldMode, newMode }: Change): boolean {
  return oldMode.startsWith("100") || newMode.startsWith("100");
}

function affordable(blobs: readonly string[], sizes: ReadonlyMap<string, number>): ReadonlySet<string> {
  const readable = new Set<string>();
  let left: number = changedFileLimits.allBytesMax;
  for (const blob of blobs) {
    const size = sizes.get(blob);
    if (size === undefined || readable.has(blob) || size > changedFileLimits.fileBytesMax || size > left) continue;
    readable.add(blob);
    left -= size;
  }
  return readable;
}

function fileOf(
  change: Change,
  readable: ReadonlySet<string>,
  texts: ReadonlyMap<string, Buffer>,
  isTest: (path: string) => boolean,
): ChangedFile {
  const { path, status, oldMode, newMode, oldBlob, newBlob } = change;
  const wanted = [oldMode.startsWith("100") ? oldBlob : null, newMode.startsWith("100") ? newBlob : null];
  const isCut = wanted.some((blob) => blob !== null && !readable.has(blob));
  const [before = null, after = null] = wanted.map((blob) => (blob === null ? null : textOf(texts.get(blob))));
  const isText = !isCut && wanted.every((blob, index) => blob === null || [before, after][index] !== null);
  return {
    path,
    status,
    before,
    after,
    isText: isText && wanted.some((blob) => blob !== null),
    isTest: isTest(path),
    isCut,
    added: after === null ? [] : addedLines(before ?? "", after),
  };
}

function textOf(bytes: Buffer | undefined): string | null {
  if (bytes === undefined || bytes.subarray(0, 8000).includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
