/** What lies on a disk in memory, what of it is durable, and what a power loss leaves of the rest. */
import type { Stats } from "node:fs";

export type Written = { readonly at: number; readonly bytes: Buffer } | { readonly cutTo: number };

export interface FileNode {
  readonly kind: "file";
  readonly ino: number;
  /** Under its last name, for a luck that looks at it. */
  path: string;
  bytes: Buffer;
  durable: Buffer;
  /** Since the last fsync, oldest first. */
  young: readonly Written[];
}

export interface FolderNode {
  readonly kind: "folder";
  readonly ino: number;
  entries: Map<string, Node>;
  durable: Map<string, Node>;
}

export type Node = FileNode | FolderNode;

/** Names that came or went together. `node` null: the name went. */
export interface Change {
  readonly path: string;
  readonly parts: readonly { readonly folder: FolderNode; readonly name: string; readonly node: Node | null }[];
}

/** What becomes of what was not synced. Asked once for each event, oldest first. */
export interface Luck {
  /** Whether a change of entries survives: a name made, removed, or renamed to `path`. */
  readonly entry: (path: string) => boolean;
  /** How many of a write's `young` bytes survive, from 0 on; of a cut (`young` 1), whether it does. */
  readonly bytes: (path: string, young: number) => number;
}

/** Everything that was not synced is lost. */
export const NO_LUCK: Luck = { entry: () => false, bytes: () => 0 };

let inodes = 0;

/** No two nodes of a process share one. */
export function newInode(): number {
  inodes += 1;
  return inodes;
}

export function newFolder(): FolderNode {
  return { kind: "folder", ino: newInode(), entries: new Map(), durable: new Map() };
}

export function applied(bytes: Buffer, written: Written): Buffer {
  if ("cutTo" in written) {
    return Buffer.concat([bytes.subarray(0, written.cutTo), Buffer.alloc(Math.max(0, written.cutTo - bytes.length))]);
  }
  const gap = Buffer.alloc(Math.max(0, written.at - bytes.length));
  return Buffer.concat([bytes.subarray(0, written.at), gap, written.bytes]);
}

/** A copy of everything reachable, durable or not; `settled`: as a disk that was just mounted holds it. */
export function cloneOf(node: Node, copies: Map<Node, Node>, settled: boolean): Node {
  const before = copies.get(node);
  if (before !== undefined) return before;
  if (node.kind === "file") {
    const file: FileNode = { ...node };
    copies.set(node, file);
    return file;
  }
  const folder: FolderNode = { kind: "folder", ino: node.ino, entries: new Map(), durable: new Map() };
  copies.set(node, folder);
  for (const [name, child] of node.durable) folder.durable.set(name, cloneOf(child, copies, settled));
  for (const [name, child] of settled ? node.durable : node.entries)
    folder.entries.set(name, cloneOf(child, copies, settled));
  return folder;
}

export function changesFor(changes: readonly Change[], copies: Map<Node, Node>): readonly Change[] {
  return changes.map((one) => ({
    ...one,
    parts: one.parts.map(({ folder, name, node }) => ({
      folder: cloneOf(folder, copies, false) as FolderNode,
      name,
      node: node === null ? null : cloneOf(node, copies, false),
    })),
  }));
}

/** The root that another computer finds. */
export function survivor(root: FolderNode, changes: readonly Change[], luck: Luck): FolderNode {
  const copies = new Map<Node, Node>();
  const disk = cloneOf(root, copies, true) as FolderNode;
  for (const { path, parts } of changes) {
    if (!luck.entry(path)) continue;
    for (const { folder, name, node } of parts) {
      const into = cloneOf(folder, copies, true) as FolderNode;
      if (node === null) into.entries.delete(name);
      else into.entries.set(name, cloneOf(node, copies, true));
    }
  }
  settleAll(disk, luck, new Set());
  return disk;
}

/** What stands now is all there is: asked of files that still have a name only. */
function settleAll(node: Node, luck: Luck, seen: Set<Node>): void {
  if (seen.has(node)) return;
  seen.add(node);
  if (node.kind === "folder") {
    node.durable = new Map(node.entries);
    for (const child of node.entries.values()) settleAll(child, luck, seen);
    return;
  }
  let bytes = node.durable;
  for (const written of node.young) {
    const size = "cutTo" in written ? 1 : written.bytes.length;
    const kept = size === 0 ? 0 : luck.bytes(node.path, size);
    if (kept === 0) continue;
    bytes = applied(bytes, "cutTo" in written ? written : { at: written.at, bytes: written.bytes.subarray(0, kept) });
  }
  node.bytes = bytes;
  node.durable = bytes;
  node.young = [];
}

export function statsOf(node: Node): Stats {
  const size = node.kind === "file" ? node.bytes.length : 0;
  return {
    ino: node.ino,
    dev: 1,
    uid: process.getuid?.() ?? 0,
    size,
    isFile: () => node.kind === "file",
    isDirectory: () => node.kind === "folder",
    isSymbolicLink: () => false,
  } as Stats;
}
