/** What kind of file system a folder lies on, and whether a ledger may be trusted to it. */
import { readFileSync } from "node:fs";

const suspectTypes: readonly (readonly [RegExp, string])[] = [
  [/^nfs\d?$/, "NFS"],
  [/^(cifs|smb3|smbfs)$/, "CIFS"],
  [/^(9p|v9fs)$/, "9p"],
  [/^drvfs$/, "drvfs"],
  [/^(fuse|fuseblk|fuse\..+)$/, "fuse"],
  [/^(virtiofs|vboxsf|vmhgfs|prl_fs|fakeowner|osxfs)$/, "a folder shared with another system"],
  [/^(afs|ceph|glusterfs|lustre|gpfs|beegfs|ocfs2|gfs2)$/, "a cluster file system"],
];

const syncedNames: readonly (readonly [RegExp, string])[] = [
  [/^dropbox( \(.+\))?$/i, "Dropbox"],
  [/^onedrive( ?- ?.+)?$/i, "OneDrive"],
  [/^(mobile documents|icloud ?drive|com~apple~clouddocs)$/i, "iCloud"],
  [/^(google ?drive|googledrive-.+|my drive)$/i, "Google Drive"],
  [/^cloudstorage$/i, "a cloud provider"],
  [/^(nextcloud|owncloud|pclouddrive|pcloud ?drive|box sync|seafile|syncthing|mega ?sync)$/i, "a sync service"],
];

/** The system's table of mounts as text; null where it has none to read. */
export function readMounts(): string | null {
  if (process.platform !== "linux") return null;
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return null;
  }
}

/** Type of the file system `path` (absolute, links resolved) lies on, from `/proc/self/mountinfo`; null: not told. */
export function fileSystemType(mounts: string, path: string): string | null {
  let best: { readonly length: number; readonly type: string } | null = null;
  for (const line of mounts.split("\n")) {
    const [before, after] = line.split(" - ");
    const point = before?.split(" ")[4];
    const [type, source] = after?.split(" ") ?? [];
    if (point === undefined || type === undefined) continue;
    // The only escapes are blank, tab, newline and backslash.
    const folder = point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    const isAbove = folder === "/" || path === folder || path.startsWith(`${folder}/`);
    // A later mount lies over an earlier one.
    if (isAbove && (best === null || folder.length >= best.length)) {
      best = { length: folder.length, type: type === "9p" && source === "drvfs" ? "drvfs" : type };
    }
  }
  return best?.type ?? null;
}

/** Why a ledger may be lost on this file system; null: nothing known against it. */
export function suspectType(type: string): string | null {
  return suspectTypes.find(([shape]) => shape.test(type))?.[1] ?? null;
}

/** The sync service that, by the path's names, rewrites this folder; null: none. */
export function syncedBy(path: string): string | null {
  for (const segment of path.split(/[\\/]/)) {
    const found = syncedNames.find(([shape]) => shape.test(segment));
    if (found !== undefined) return found[1];
  }
  return null;
}
